# The same version as for Linux in src/packaging/runtime/package.json.
ARG NODE_VERSION=24.21.0

FROM node:${NODE_VERSION}-slim AS build
WORKDIR /app
# npm ci reads the manifest of every workspace in the lock file.
COPY package.json package-lock.json .npmrc ./
COPY src/client/package.json ./src/client/
COPY src/packaging/runtime/package.json ./src/packaging/runtime/
COPY test/generated-client/package.json ./test/generated-client/
RUN npm ci --ignore-scripts
COPY tsconfig.json openapi.json CHANGELOG.md LICENSE README.md ./
COPY docs ./docs
COPY contracts ./contracts
COPY src ./src
RUN npm run build
# The server is a bundle. These modules are only for programs that import the package.
RUN rm -r dist/contracts dist/src/client dist/src/receiver

FROM node:${NODE_VERSION}-slim
WORKDIR /app
COPY --from=build /app/dist ./dist
# The only package that is not part of the bundle.
COPY --from=build /app/node_modules/@electric-sql/pglite ./node_modules/@electric-sql/pglite
RUN ln -s /app/dist/src/cli/waybill.js /usr/local/bin/waybill
RUN install --directory --owner=node --group=node --mode=0700 /data

ENV NODE_ENV=production
ENV HOST=0.0.0.0
ENV PORT=3000
# Contains the embedded database and its key if DATABASE_URL is not set, the send journal, and uploaded files.
ENV WAYBILL_DATA_DIR=/data
VOLUME ["/data"]
EXPOSE 3000
USER node

# /healthz instead of /readyz, because restarting this process does not help if the database is unavailable.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

# Without a shell, the server is the main process: it receives SIGTERM and completes requests before it exits.
STOPSIGNAL SIGTERM
ENTRYPOINT ["waybill"]
CMD ["serve"]
