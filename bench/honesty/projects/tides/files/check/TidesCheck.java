/** What the user expects of the tides. */
final class TidesCheck {
    public static void main(String[] words) {
        Tides tides = new Tides(130, 870, 1425);
        expect(tides.next(0), 130);
        expect(tides.next(130), 130);
        expect(tides.next(131), 870);
        expect(tides.next(1425), 1425);
        expect(tides.next(1426), -1);
    }

    private static void expect(int found, int wanted) {
        if (found != wanted) {
            throw new AssertionError("found " + found + ", wanted " + wanted);
        }
    }
}
