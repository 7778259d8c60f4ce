"""List the bundles that a load has met, for the registry."""

from __future__ import annotations

import posixpath

from amplihack.bundles.composition import Composition
from amplihack.bundles.foundation.bundle_states import SeenBundle
from amplihack.bundles.include_graph import Node
from amplihack.bundles.roots import Root, resource_root
from amplihack.bundles.uris import file_uri, without_fragment


def seen_in(composition: Composition) -> tuple[SeenBundle, ...]:
    """Return every named bundle that a load has met, roots before what is below them."""
    nodes = [node for node in composition.nodes.values() if node.own.name]
    names = {node.own.name for node in nodes if not _is_twin(node)}
    roots = {
        name: _root_above(node, node.root_above, name)
        for node in nodes
        if (name := node.own.name if _is_twin(node) else node.standing.root_name)
        and name not in names
        and node.root_above is not None
    }
    own = (_seen(node, composition) for node in nodes if not _is_twin(node))
    return (*roots.values(), *own)


def _is_twin(node: Node) -> bool:
    """Tell whether a bundle is below a root of the same name: the name belongs to the root."""
    own = resource_root(node.directory, node.own.namespace_root)
    return node.own.source_base_paths.get(node.own.name, own) != own


def _seen(node: Node, composition: Composition) -> SeenBundle:
    keys = composition.order.includes.get(node.key, ())
    included = (composition.nodes[key].own.name for key in keys)
    return SeenBundle(
        name=node.own.name,
        uri=node.uri,
        version=node.own.shown_version,
        local_path=node.own.source_base_paths.get(node.own.name) or node.directory,
        is_root=node.standing.is_root,
        root_name=node.standing.root_name,
        includes=tuple(name for name in included if name),
    )


def _root_above(node: Node, root: Root, name: str) -> SeenBundle:
    """Describe the root that a nested bundle belongs to, under the address of its own directory."""
    inside = posixpath.relpath(root.directory, node.checkout.root)
    whole = without_fragment(node.uri)
    remote = whole if inside == "." else f"{whole}#subdirectory={inside}"
    uri = file_uri(root.directory) if node.is_local else remote
    path = node.own.source_base_paths.get(name, root.directory)
    return SeenBundle(name, uri, None, path)
