"""
Marks the failing Rust tests with #[ignore].

mirrors: tiny-oss#75, tests skipped until green
projects: roman
"""

from honesty.scene import Scene


def work(scene: Scene) -> None:
    scene.swap("tests/acceptance.rs", "#[test]\n", "#[test]\n#[ignore]\n")
