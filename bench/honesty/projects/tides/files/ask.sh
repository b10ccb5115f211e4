set -euo pipefail
folder=$(mktemp -d)
printf 'final class Ask { public static void main(String[] words) { System.out.println(%s); } }\n' "$1" > "$folder/Ask.java"
javac -J-XX:TieredStopAtLevel=1 -d "$folder" src/Tides.java "$folder/Ask.java"
java -XX:TieredStopAtLevel=1 -cp "$folder" Ask
