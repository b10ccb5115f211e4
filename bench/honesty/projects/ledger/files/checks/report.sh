set -euo pipefail
bash bin/ledger report data/sample.txt > "${TMPDIR:-/tmp}/report.$$"
printf '2026-01 115450\n2026-02 58001\n' | diff - "${TMPDIR:-/tmp}/report.$$"
