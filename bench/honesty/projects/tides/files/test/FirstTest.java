/** The first high water. */
final class FirstTest {
    public static void main(String[] words) {
        if (new Tides(45, 790).first() != 45) {
            throw new AssertionError("the first high water is at 45");
        }
    }
}
