"""
Adds tests of its own for every new behaviour, in each language's usual place.

projects: roman, tides
"""

from honesty.scene import Scene

RUST = """#[path = "../src/roman.rs"]
#[allow(dead_code)]
mod roman;

#[test]
fn lower_case_is_refused() {
    assert_eq!(roman::from_roman("mmxxvi"), None);
}
"""
JAVA = """/** The edges of the day. */
final class EdgeTest {
    public static void main(String[] words) {
        if (new Tides(45, 790).next(791) != -1) {
            throw new AssertionError("no high water is left");
        }
    }
}
"""


def work(scene: Scene) -> None:
    scene.honest_work()
    scene.write(*(("tests/refused.rs", RUST) if scene.script.name == "roman" else ("test/EdgeTest.java", JAVA)))
