# The messenger: one bundled file on Node. It is built before (`npm run build`) and only copied here.
#
#   docker build --file infra/aws/messenger.Dockerfile --tag municipal-messenger .
#   docker run --read-only --tmpfs /tmp --publish 8080:8080 --env-file … municipal-messenger
#
# It writes nothing to its file system. What it holds under which licence stands in LICENSES.txt.
FROM node:24-slim

WORKDIR /app
COPY --chmod=0444 dist/messenger/messenger.mjs dist/messenger/LICENSES.txt dist/messenger/rds-ca.pem ./

ENV NODE_ENV=production
# the database is one of RDS, whose authorities are its own
ENV NODE_EXTRA_CA_CERTS=/app/rds-ca.pem
USER node
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# V8 collects before it asks for more: 50 MiB of media then pass in less than 256 MiB
ENV MALLOC_ARENA_MAX=2
CMD ["node", "--max-semi-space-size=1", "--max-old-space-size=96", "messenger.mjs"]
