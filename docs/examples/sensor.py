import sys

import meteor

with meteor.sync.connect(*sys.argv[1:]) as client:
    for line in sys.stdin:
        client.store({"type": "temperature", "temperature": float(line)}, ttl=600)
