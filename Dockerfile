# Written where no container engine was at hand: test/package/container.test.ts does what these lines say in plain
# folders, with this file's own COPY and RUN lines, and starts what comes out.

# The same version as for Linux in src/packaging/runtime/package.json.
ARG NODE_VERSION=24.21.0

FROM node:${NODE_VERSION}-slim AS build
WORKDIR /app
# The workspaces are in the lock, so npm wants to see them.
COPY package.json package-lock.json .npmrc ./
COPY src/client/package.json ./src/client/
COPY src/packaging/runtime/package.json ./src/packaging/runtime/
COPY test/generated-client/package.json ./test/generated-client/
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json SECURITY.md openapi.json ./
COPY contracts ./contracts
COPY src ./src
RUN npm run build

FROM node:${NODE_VERSION}-slim
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY src/client/package.json ./src/client/
COPY src/packaging/runtime/package.json ./src/packaging/runtime/
COPY test/generated-client/package.json ./test/generated-client/
# The optional ones are the Node that the repository brings along; this image has its own.
RUN npm ci --omit=dev --omit=optional --ignore-scripts
RUN npm cache clean --force
COPY --from=build /app/dist ./dist
RUN ln -s /app/dist/src/cli/waybill.js /usr/local/bin/waybill
RUN install --directory --owner=node --group=node --mode=0700 /data

ENV NODE_ENV=production
ENV HOST=0.0.0.0
ENV PORT=3000
# Used without DATABASE_URL only: the embedded database and its key.
ENV WAYBILL_DATA_DIR=/data
VOLUME ["/data"]
EXPOSE 3000
USER node

# /healthz and not /readyz: a restart of this process does not help a database that is away.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --start-interval=1s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

# No shell in between: the entry point becomes node itself, so SIGTERM reaches it and it finishes what it has begun.
STOPSIGNAL SIGTERM
ENTRYPOINT ["waybill"]
CMD ["serve"]
