from amplifier_foundation.bundle._dataclass import Bundle as Bundle
from amplifier_foundation.bundle._prepared import BundleModuleResolver as BundleModuleResolver
from amplifier_foundation.bundle._prepared import BundleModuleSource as BundleModuleSource
from amplifier_foundation.bundle._prepared import PreparedBundle as PreparedBundle
from amplifier_foundation.bundle._prepared import SessionPreInitializer as SessionPreInitializer

__all__ = ["Bundle", "BundleModuleResolver", "BundleModuleSource", "PreparedBundle", "SessionPreInitializer"]
