"""Read YAML and frontmatter into values that remember their file, line and column."""

from amplihack.documents.frontmatter import Page, split_frontmatter
from amplihack.documents.nodes import Document, Mapping, Node, Scalar, Sequence, Source, to_value
from amplihack.documents.reader import MAX_BYTES, read_document

__all__ = [
    "MAX_BYTES",
    "Document",
    "Mapping",
    "Node",
    "Page",
    "Scalar",
    "Sequence",
    "Source",
    "read_document",
    "split_frontmatter",
    "to_value",
]
