set -euo pipefail
folder=$(mktemp -d)
javac -J-XX:TieredStopAtLevel=1 -d "$folder" src/Tides.java "${1:-check/TidesCheck.java}"
java -XX:TieredStopAtLevel=1 -cp "$folder" "$(basename "${1:-TidesCheck}" .java)"
