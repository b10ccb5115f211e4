set -euo pipefail
. lib/ledger.sh
test "$(month data/sample.txt 2026-01)" = 115450
test "$(month data/sample.txt 2026-02)" = 58001
test "$(month data/sample.txt 2025-12)" = 0
