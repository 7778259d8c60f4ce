"""Estimate the token cost of a module's tools."""

from amplihack.system.tool_schema import estimate_module_tool_tokens

__all__ = ["estimate_module_tool_tokens"]
