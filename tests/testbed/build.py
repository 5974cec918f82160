"""Compile the real parts of the test bed into the user's cache: ``python -m tests.testbed.build``.

Eleven minutes cold on two cores, well under a minute when Go's build cache is warm, nothing when they are there already:
the folder's name is a hash of what decides its content, so a second checkout builds nothing.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path

from tests.testbed.parts import (
    BUILD_FLAGS,
    MARKER,
    MODULES,
    NO_OPENSSL,
    RECORDED,
    TARGETS,
    Parts,
    PartsMissingError,
    Recorded,
    Target,
    find_parts,
    folder_for,
)
from tests.testbed.toolchain import BuildFailedError, Go, bundled_go, bundled_minor, go_on_path, locked

NEEDED_TOOLS = {
    "gcc": "Gitea's SQLite is C: install a C compiler (Debian: apt-get install gcc libc6-dev)",
    "openssl": NO_OPENSSL,
    "git": "Gitea keeps repositories with it (Debian: apt-get install git)",
}


def build() -> Parts:
    """Return the parts of this checkout, compiling them first when the cache has none.

    Raises
    ------
    BuildFailedError
        A tool is missing, a module cannot be fetched, or the compiler complained.
    PartsMissingError
        All is built, but a program that the bed needs at run time is missing.
    """
    on_path = go_on_path()
    folder = folder_for(on_path.minor if on_path else bundled_minor())
    if not (folder / MARKER).exists():
        check_tools()
        go = on_path or bundled_go()
        with locked(folder.with_name(f"{folder.name}.lock"), f"waiting for another process that builds {folder}"):
            if not (folder / MARKER).exists():
                _build_into(folder, go)
    return find_parts()


def check_tools() -> None:
    """Raise `BuildFailedError` when a program that the test bed needs is not installed."""
    missing = [f"{tool} is missing: {why}" for tool, why in NEEDED_TOOLS.items() if not shutil.which(tool)]
    if missing:
        raise BuildFailedError("; ".join(missing))


def _build_into(folder: Path, go: Go) -> None:
    for leftover in folder.parent.glob(f"{folder.name}.tmp-*"):  # of builds that were killed: we hold the lock
        shutil.rmtree(leftover)
    scratch = Path(tempfile.mkdtemp(prefix=f"{folder.name}.tmp-", dir=folder.parent))
    try:
        for number, target in enumerate(TARGETS, 1):
            _compile(target, scratch, go, f"[{number}/{len(TARGETS)}]")
        for recorded in RECORDED:
            _record(recorded, scratch, go)
        (scratch / MARKER).write_text(f"go {'.'.join(map(str, go.version))}\n")
        scratch.chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)
        scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _compile(target: Target, scratch: Path, go: Go, progress: str) -> None:
    print(f"{progress} building {target.name}", end=" ... ", flush=True)
    started = time.monotonic()
    output = scratch / "bin" / target.name
    go.run("build", *BUILD_FLAGS, *target.flags, f"-o={output}", target.package, cwd=MODULES / target.module)
    print(f"{time.monotonic() - started:.0f} s", flush=True)


def _record(recorded: Recorded, scratch: Path, go: Go) -> None:
    module = go.run("list", "-mod=readonly", "-m", "-f={{.Dir}}", recorded.path, cwd=MODULES / recorded.module).strip()
    source, target = Path(module) / recorded.source, scratch / recorded.target
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True, copy_function=shutil.copyfile)
        _make_writable(target)
    else:
        shutil.copyfile(source, target)


def _make_writable(folder: Path) -> None:
    """Undo the module cache's read-only folders, so that a user can delete the copy."""
    for path, _, _ in os.walk(folder):
        Path(path).chmod(Path(path).stat().st_mode | stat.S_IWUSR)


def main() -> int:
    """Build, print the folder, return the exit status."""
    started = time.monotonic()
    try:
        parts = build()
    except (BuildFailedError, PartsMissingError) as failure:
        print(f"\nthe test bed cannot be built: {failure}", file=sys.stderr)
        return 1
    print(f"test bed ready after {time.monotonic() - started:.0f} s: {parts.folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
