# Node and nothing else. docs/self-hosting.md says how to pin it by digest.
ARG NODE_IMAGE=node:24.21.0-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Install scripts fetch files outside the lock file; the build needs none of them.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY scripts ./scripts
COPY src ./src
RUN node scripts/run.ts --build-only

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
    MALLOC_MMAP_THRESHOLD_=131072 \
    MALLOC_TRIM_THRESHOLD_=131072 \
    MALLOC_ARENA_MAX=2 \
    HOST=0.0.0.0 \
    PORT=3000
WORKDIR /app
COPY --from=build /app/dist ./dist
# The one package with a binary; the bundle in dist has all others.
COPY --from=build /app/node_modules/@resvg ./node_modules/@resvg
COPY package.json LICENSE ./
COPY starter ./starter
COPY assets ./assets
COPY docs ./docs
# The default DATABASE_URL is below ./data. As a link, the image sets no DATABASE_URL, which DATABASE_URL_FILE would collide with.
RUN mkdir /data && chown 1000:1000 /data && ln -s /data data
USER 1000:1000
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/readyz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# With the flags that `serve` would otherwise start itself anew for: as PID 1 it would miss a signal meanwhile.
CMD ["node", "--max-semi-space-size=4", "--heap-growing-percent=20", "dist/cli/main.js", "serve", "--starter"]
