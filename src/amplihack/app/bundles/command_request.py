"""Make the load request of a command: the settings, names and folders of the place where it runs."""

from __future__ import annotations

from amplihack.app.bundles.load import LoadRequest
from amplihack.app.workspace import Workspace
from amplihack.bundles.errors import BundleNotFoundError
from amplihack.bundles.includes import BUNDLE_FILES
from amplihack.bundles.mentions import MentionScope
from amplihack.bundles.names import WELL_KNOWN, KnownNames
from amplihack.bundles.settings import Settings, added_bundles, redirect_include
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.own_bundles import OWN_BUNDLES, OWN_INSTEAD
from amplihack.system.registry_file import read_registered
from amplihack.system.search_dirs import PACKAGED_BUNDLE
from amplihack.system.settings_files import read_settings


def request_here(
    workspace: Workspace,
    source: str | None = None,
    *,
    offline: bool = False,
    frozen: bool = False,
    strict: bool = True,
) -> LoadRequest:
    """Ask for a bundle: the named one, else the active one of the settings, else this directory's.

    Raises AmplihackError for settings that cannot be used, and when there is no bundle to load.
    """
    settings = read_settings(workspace.home, workspace.directory)
    directory, root = workspace.directory, workspace.home.root
    return LoadRequest(
        source=source or _default_source(workspace, settings),
        base=directory,
        cache_dir=root / "cache",
        environment=workspace.environment,
        names=names_here(workspace, settings),
        redirector=lambda include: redirect_include(include, settings),
        settings=settings,
        scope=MentionScope(
            bases=(str(directory),),
            home=str(workspace.home.user),
            user=str(root),
            project=str(directory / ".amplihack"),
        ),
        lock_directory=directory if frozen else None,
        registry_home=root,
        instead=OWN_INSTEAD,
        offline=offline,
        knows_here=True,
        strict=strict,
    )


def names_here(workspace: Workspace, settings: Settings | None = None) -> KnownNames:
    """Return the names that lead to a bundle here, whatever is loaded."""
    settings = settings or read_settings(workspace.home, workspace.directory)
    folders = (workspace.directory / ".amplihack" / "bundles", workspace.home.root / "bundles")
    return KnownNames(
        files=BundleFiles(),
        added=added_bundles(settings),
        registered=read_registered(workspace.home.root),
        folders=tuple(str(folder) for folder in (*folders, OWN_BUNDLES)),
        well_known={**WELL_KNOWN, PACKAGED_BUNDLE.name: f"file://{PACKAGED_BUNDLE}"},
    )


def _default_source(workspace: Workspace, settings: Settings) -> str:
    active = settings.at("bundle").text("active")
    if active:
        return active
    for name in BUNDLE_FILES:
        if (workspace.directory / name).is_file():
            return f"./{name}"
    # What was meant to name one may be among what cannot be used.
    if wrong := next((each for each in settings.problems if each.severity != "note"), None):
        what = f"there is no bundle here, and settings name none: {wrong.what}"
        raise BundleNotFoundError(what, where=wrong.where, fix=wrong.fix)
    raise BundleNotFoundError(
        "there is no bundle here, and settings name none",
        fix="name one, or set `bundle: {active: …}` in settings.yaml",
    )
