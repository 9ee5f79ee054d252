# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Dockerfile: the command, the libraries and the Python package on Debian 12,
# without LLVM. The tests have no Docker: they run the same steps in a Debian
# that debootstrap makes (.ci/fresh_debian).
#
#   docker build -t mettle .
#   docker run --rm -v "$PWD:/work" mettle run kernel.metal
FROM debian:12-slim AS build
WORKDIR /src
COPY . .
RUN apt-get update && apt-get install -y --no-install-recommends make
RUN tools/install_packages.sh --apt build && make tarball
RUN mkdir /opt/mettle && \
    tar -xf dist/mettle-*.tar.xz --strip-components=1 -C /opt/mettle

FROM debian:12-slim
RUN apt-get update && \
    apt-get install -y --no-install-recommends libstdc++6 python3-numpy && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/mettle /opt/mettle
ENV PATH=/opt/mettle/bin:$PATH PYTHONPATH=/opt/mettle/share/mettle/python
WORKDIR /work
ENTRYPOINT ["mettle"]
