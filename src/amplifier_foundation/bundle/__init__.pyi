from amplifier_foundation.bundle._dataclass import Bundle as Bundle

__all__ = ["Bundle"]
