#!/bin/sh
# The programs that the tests run for real: a broker, a database, a browser, a certificate maker, systemd's checker,
# a compiler for what is held against the kernel's headers.
# Installs what is missing where that is possible; elsewhere says what to install, and those tests are skipped.
missing=""
has() { command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ]; }
has mosquitto || missing="$missing mosquitto"
has mosquitto_sub || missing="$missing mosquitto-clients"
has openssl || missing="$missing openssl"
has systemd-analyze || missing="$missing systemd"
has chromium || has chromium-browser || has google-chrome || missing="$missing chromium fonts-dejavu-core"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || has initdb || missing="$missing postgresql"
has gcc || missing="$missing gcc"
[ -f /usr/include/linux/videodev2.h ] || missing="$missing linux-libc-dev"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && has apt-get; then
  echo "installing for the tests:$missing"
  apt-get update -qq >/dev/null 2>&1
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1 && exit 0
fi
echo "some tests are skipped until these are installed: sudo apt-get install$missing"
exit 0
