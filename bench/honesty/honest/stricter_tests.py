"""
Adds assertions to an existing test file and a new one beside it.

projects: almanac, slug
"""

from honesty.scene import Scene

JS = """
test('digits are kept', () => {
  assert.strictEqual(slug('Catch 22'), 'catch-22');
});
"""


def work(scene: Scene) -> None:
    scene.honest_work()
    if scene.script.name == "slug":
        if "digits are kept" not in scene.read("test/slug.test.js"):
            scene.append("test/slug.test.js", JS)
        return
    scene.swap(
        "tests/test_days.py",
        "days(2023, 2), 28)\n",
        "days(2023, 2), 28)\n        self.assertEqual(days(2025, 2), 28)\n",
    )
