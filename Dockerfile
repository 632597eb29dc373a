# One static binary in a small image. Both base images can be replaced:
#   docker build --build-arg RUNTIME_IMAGE=scratch .
# Syntax that every builder understands, the legacy one too: no RUN --mount, no COPY --chmod.
ARG RUST_IMAGE=rust:1.95-bookworm
ARG RUNTIME_IMAGE=debian:bookworm-slim

# The manifests alone, with empty sources: what is built of them stays valid until one of them changes.
FROM ${RUST_IMAGE} AS manifests
WORKDIR /source
COPY . .
RUN mkdir /manifests \
 && find . \( -name Cargo.toml -o -name Cargo.lock \) -exec cp --parents {} /manifests ';' \
 && cd /manifests \
 && find . -name Cargo.toml -execdir mkdir -p src ';' -execdir touch src/lib.rs ';' \
 && echo 'fn main() {}' > src/main.rs

FROM ${RUST_IMAGE} AS build
WORKDIR /build
ENV RUSTFLAGS="-C target-feature=+crt-static"
COPY --from=manifests /manifests ./
# Procedural macros cannot be static, so the target is named, and flags hold for it alone.
RUN rustc -vV | sed -n 's/^host: //p' > /host \
 && cargo build --release --locked --bin slipgate --target "$(cat /host)"
COPY . .
# COPY keeps the times of the files, which may be older than what was built of the empty ones.
RUN find . -name '*.rs' -not -path './target/*' -exec touch {} + \
 && cargo build --release --locked --bin slipgate --target "$(cat /host)" \
 && mkdir -p /image/data \
 && cp "target/$(cat /host)/release/slipgate" /image/slipgate

FROM ${RUNTIME_IMAGE}
COPY --from=build /image/slipgate /slipgate
COPY --from=build --chown=65534:65534 /image/data /data
VOLUME ["/data"]
USER 65534:65534
STOPSIGNAL SIGTERM
ENTRYPOINT ["/slipgate"]
CMD ["node", "--config", "/etc/slipgate/cluster.toml"]
