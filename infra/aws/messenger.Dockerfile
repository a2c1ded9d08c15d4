# The messenger: one bundled file on Node, and sharp for linux-arm64. `npm ci` and `npm run build` provide both;
# here they are only copied.
#
#   docker build --file infra/aws/messenger.Dockerfile --tag municipal-messenger .
#   docker run --read-only --tmpfs /tmp --publish 8080:8080 --env-file … municipal-messenger
#
# It writes nothing to its file system. LICENSES.txt lists all packages with their licences; the texts of LGPL-3
# (libvips, a shared library that can be replaced) and GPL-3 are also in /usr/share/common-licenses.
#
# A tag moves. `npm run city -- preflight --stage prod` prints the command that adds the digest of its current image to the next
# line; commit it. For updates of Node and Debian, remove the digest, and run the command again.
FROM node:24-slim

WORKDIR /app
COPY --chmod=0444 dist/messenger/messenger.mjs dist/messenger/LICENSES.txt dist/messenger/rds-ca.pem ./
COPY --chmod=0555 infra/image/node_modules ./node_modules

ENV NODE_ENV=production
# the database is one of RDS, whose authorities are its own
ENV NODE_EXTRA_CA_CERTS=/app/rds-ca.pem
USER node
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# V8 collects before it asks for more: 50 MiB of media then pass in less than 256 MiB
ENV MALLOC_ARENA_MAX=2
# glibc would raise this to 32 MiB and keep the memory of decoded images: 290 MiB at rest instead of 170
ENV MALLOC_MMAP_THRESHOLD_=65536
# a new space of 4 MiB instead of 1 takes 4 MiB more, and a quarter less CPU time for each message that is accepted
CMD ["node", "--max-semi-space-size=4", "--max-old-space-size=96", "messenger.mjs"]
