#!/bin/sh
# A sensor that has nothing but curl: sensor.sh HOST:PORT < readings
# Each line is a temperature; a peer takes it on its own port, for ten minutes.
while read -r degrees; do
    curl --silent --show-error --fail --output /dev/null \
        --data-binary "read at $(date +%H:%M)" \
        "http://$1/profiles?profile=type%3Dtemperature%20temperature%3D$degrees&ttl=600" || exit 1
done
