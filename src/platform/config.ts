import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { z } from 'zod'
import type { DatabaseUrl } from './database-url.ts'
import { hasCluster } from './db/embedded/cluster.ts'
import type { MailConfig } from './email/transport.ts'
import { Environment, s3Address, secretKeyBytes, SecretKeys, secretVariables } from './environment.ts'
import { codeOf } from './error-code.ts'
import type { logLevels } from './log.ts'
import type { ProxySettings } from './proxy.ts'
import { replaceFile } from './files.ts'
import { readTelemetrySettings, type TelemetrySettings } from './telemetry/settings.ts'

/** Where data is stored: a PostgreSQL server, or an embedded PGlite database in a local folder. */
export type DatabaseConfig = PostgresConfig | { kind: 'pglite'; dataDir: string }

export interface PostgresConfig extends PostgresSettings, DatabaseUrl {
  kind: 'postgres'
}

/** Settings for every PostgreSQL server that this process connects to. */
interface PostgresSettings {
  /** Shell command that prints the password, and the environment in which it runs. */
  passwordCommand?: { text: string; environment: NodeJS.ProcessEnv } | undefined
  /** In the `.pgpass` format; by default the one of the user. */
  passwordFile?: string | undefined
  statementTimeoutSeconds?: number
  lockTimeoutSeconds?: number
  /** Maximum wait of a statement for its turn and for a connection; then the response is SERVICE_UNAVAILABLE. */
  maxWaitSeconds?: number
}

export interface WebhookConfig {
  /** Delays between the attempts of a delivery, in seconds. There is one more attempt than delays. */
  retrySeconds: number[]
  /** Timeout of one attempt, from the first byte sent to the last byte received. */
  timeoutSeconds: number
  /** For development: allows http and private addresses. */
  allowPrivate: boolean
  /** Hosts that may have http URLs and private addresses, as `URL` spells them, without brackets; `*.` stands for all names below. */
  privateHosts?: readonly string[]
}

/** How much an account can make the database hold. */
export interface Quotas {
  /** Maximum entries of the suppression list of an account, apart from opt-outs of recipients. */
  suppressions: number
  /** Maximum templates of an account, deleted ones included, before it can create no more. */
  templates: number
  /** Maximum views that a member can save in an account. */
  savedViews: number
}

export interface MediaConfig {
  store: MediaStoreConfig
  /** Holds files while they arrive. */
  spoolDir: string
  /** Per account. */
  quotaBytes: number
  /** Concurrent uploads of one account to this process. */
  maxUploads: number
  expirySeconds: number
}

type MediaStoreConfig = { kind: 'folder'; path: string } | ({ kind: 's3' } & S3Config)

export interface S3Config {
  /** Address of the bucket, without a slash at its end. */
  url: string
  /** Prefix of all object keys; can be empty. */
  prefix: string
  region: string
  accessKeyId: string
  secretAccessKey: string
}

export interface Config {
  host: string
  port: number
  database: DatabaseConfig
  /** Also applies to the target of a move. */
  postgres: PostgresSettings
  /** Folder of the journals, which show the next process what this one did not record. */
  journalDir: string
  /** Undefined in embedded mode until `readOrCreateSecretKey` has created one in the data folder. */
  secretKeys: [Uint8Array, ...Uint8Array[]] | undefined
  graphApi: { url: string; version: string }
  meta: { appSecret: string | undefined; verifyToken: string | undefined }
  trustedProxies: string[]
  webhooks: WebhookConfig
  /** Undefined if outgoing requests use no proxy. */
  proxies: ProxySettings | undefined
  /** How long messages, events, deliveries and attempts are kept. */
  retentionDays: number
  /** How long API requests are kept; 0 if none are recorded. */
  requestLogDays: number
  quotas: Quotas
  media: MediaConfig
  /** Age in seconds at which a message without an outcome is reported, once. */
  outcomeUnknownAfterSeconds: number
  /** Address of the dashboard in browsers. With https, its cookies are secure. */
  publicUrl: string | undefined
  /** The SMTP server and the sender; undefined if no email is sent. */
  smtp: MailConfig | undefined
  /** The OpenID provider for dashboard sign-in. */
  oidc: { issuer: string; clientId: string; clientSecret: string } | undefined
  logLevel: (typeof logLevels)[number]
  metricsToken: string | undefined
  /** Undefined if nothing is exported by OTLP. */
  telemetry: TelemetrySettings | undefined
}

export class ConfigError extends Error {
  /** One line per invalid variable. Values are never repeated. */
  constructor(lines: string[]) {
    super(lines.join('\n'))
    this.name = 'ConfigError'
  }
}

/** What shells, editors and `kubectl` leave around a value. It is part of no secret, and other programs trim it too. */
const surroundings = /^[\s\uFEFF]+|[\s\uFEFF]+$/g

function trimValues(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment)
      .map(([name, value = '']): [string, string] => [name, value.replaceAll(surroundings, '')])
      // An empty variable counts as absent, because compose files set variables that way.
      .filter(([, value]) => value !== ''),
  )
}

/** Values that may be in quotes, and an endpoint whose mistakes are only warned about. */
const quotable = new Set(['DATABASE_PASSWORD_COMMAND', 'PGPASSWORD', 'OTEL_EXPORTER_OTLP_ENDPOINT'])

/**
 * `docker run --env-file` and systemd's `LoadCredential` keep the quotes that a shell would remove. In quotes, even
 * `/data` would be a relative path, outside the volume.
 */
function findQuoted(environment: Record<string, string | undefined>): string[] {
  return Object.keys(Environment.shape)
    .filter((name) => !quotable.has(name) && /^(["'`]).*\1$/s.test(environment[name] ?? ''))
    .map((name) => `${name}: is in quotes, which are not removed. Write the value without them`)
}

/** Replaces each `<name>_FILE` variable with `<name>` and the content of the file. */
function readSecretFiles(environment: Record<string, string | undefined>): Record<string, string | undefined> {
  const problems: string[] = []
  const read = secretVariables.flatMap((name): [string, string][] => {
    const file = environment[`${name}_FILE`]
    if (file === undefined) return []
    if (environment[name] !== undefined) {
      problems.push(`${name}_FILE: is set together with ${name}. Set only one of them`)
      return []
    }
    const secret = readSecretFile(file)
    if ('problem' in secret) problems.push(`${name}_FILE: ${secret.problem}`)
    return 'content' in secret ? [[name, secret.content]] : []
  })
  if (problems.length > 0) throw new ConfigError(problems)
  return { ...environment, ...Object.fromEntries(read) }
}

function readSecretFile(file: string): { content: string } | { problem: string } {
  try {
    const content = readFileSync(file, 'utf8').replaceAll(surroundings, '')
    return content === '' ? { problem: 'names an empty file. Write the secret into it' } : { content }
  } catch (error) {
    const code = codeOf(error) ?? 'unknown error'
    return { problem: `names a file that cannot be read (${code})` }
  }
}

/** Reads the environment. Throws a `ConfigError` that lists every invalid variable. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const trimmed = withLowercaseProxies(trimValues(environment))
  const given = readSecretFiles(trimmed)
  const quoted = findQuoted(given)
  if (quoted.length > 0) throw new ConfigError(quoted)
  const parsed = Environment.safeParse(given)
  if (!parsed.success)
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`))
  const env = parsed.data
  const postgres = readPostgresSettings(env, environment)
  return {
    host: env.HOST,
    port: env.PORT,
    database:
      env.DATABASE_URL === undefined
        ? { kind: 'pglite', dataDir: path.resolve(env.WAYBILL_DATA_DIR) }
        : { kind: 'postgres', ...env.DATABASE_URL, ...postgres },
    postgres,
    journalDir: path.resolve(env.WAYBILL_DATA_DIR, 'journal'),
    secretKeys: env.WAYBILL_SECRET_KEY,
    graphApi: { url: env.GRAPH_API_URL, version: env.GRAPH_API_VERSION },
    meta: { appSecret: env.META_APP_SECRET, verifyToken: env.META_VERIFY_TOKEN },
    trustedProxies: env.TRUST_PROXY,
    webhooks: {
      retrySeconds: env.WEBHOOK_RETRY_SCHEDULE,
      timeoutSeconds: env.WEBHOOK_TIMEOUT_SECONDS,
      allowPrivate: env.WEBHOOK_ALLOW_PRIVATE === 'true',
      privateHosts: env.WEBHOOK_PRIVATE_HOSTS,
    },
    proxies: readProxies(env),
    retentionDays: env.WAYBILL_RETENTION_DAYS,
    requestLogDays: env.WAYBILL_REQUEST_LOG_DAYS,
    quotas: {
      suppressions: env.WAYBILL_SUPPRESSION_QUOTA,
      templates: env.WAYBILL_TEMPLATE_QUOTA,
      savedViews: env.WAYBILL_SAVED_VIEW_QUOTA,
    },
    media: {
      store: readMediaStore(env),
      spoolDir: path.resolve(env.WAYBILL_DATA_DIR, 'spool'),
      quotaBytes: env.WAYBILL_MEDIA_QUOTA_MB * 1024 * 1024,
      maxUploads: env.WAYBILL_MEDIA_MAX_UPLOADS,
      expirySeconds: env.WAYBILL_MEDIA_EXPIRY,
    },
    outcomeUnknownAfterSeconds: env.WAYBILL_OUTCOME_UNKNOWN_AFTER,
    publicUrl: env.WAYBILL_PUBLIC_URL,
    smtp:
      env.SMTP_URL !== undefined && env.WAYBILL_PUBLIC_URL !== undefined
        ? { ...env.SMTP_URL, from: env.SMTP_FROM ?? `waybill@${new URL(env.WAYBILL_PUBLIC_URL).hostname}` }
        : undefined,
    oidc:
      env.OIDC_ISSUER !== undefined && env.OIDC_CLIENT_ID !== undefined && env.OIDC_CLIENT_SECRET !== undefined
        ? { issuer: env.OIDC_ISSUER, clientId: env.OIDC_CLIENT_ID, clientSecret: env.OIDC_CLIENT_SECRET }
        : undefined,
    logLevel: env.LOG_LEVEL,
    metricsToken: env.METRICS_TOKEN,
    telemetry: readTelemetrySettings(trimmed),
  }
}

function readPostgresSettings(env: z.output<typeof Environment>, environment: NodeJS.ProcessEnv): PostgresSettings {
  const { DATABASE_PASSWORD_COMMAND: text } = env
  return {
    // The command needs the credentials of its cloud provider, but none of Waybill's secrets.
    passwordCommand: text === undefined ? undefined : { text, environment: withoutSecrets(environment) },
    passwordFile: env.PGPASSFILE,
    statementTimeoutSeconds: env.DATABASE_STATEMENT_TIMEOUT,
    lockTimeoutSeconds: env.DATABASE_LOCK_TIMEOUT,
  }
}

function withoutSecrets(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const secrets: readonly string[] = secretVariables
  const isSecret = (name: string) => secrets.includes(name) || /^OTEL_\w*_HEADERS$/.test(name)
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !isSecret(name)))
}

function readProxies({ HTTPS_PROXY: https, HTTP_PROXY: http, NO_PROXY: direct }: z.output<typeof Environment>) {
  return https || http ? { https, http, direct } : undefined
}

const proxyVariables = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY']

/** Most programs read these variables in lowercase too, and prefer them. */
function withLowercaseProxies(environment: Record<string, string>): Record<string, string> {
  const lowercase = proxyVariables.flatMap((name): [string, string][] => {
    const value = environment[name.toLowerCase()]
    return value === undefined ? [] : [[name, value]]
  })
  return { ...environment, ...Object.fromEntries(lowercase) }
}

function readMediaStore(env: z.output<typeof Environment>): MediaStoreConfig {
  const { WAYBILL_MEDIA_STORE: store = path.join(env.WAYBILL_DATA_DIR, 'media') } = env
  const [, bucket, prefix = ''] = s3Address.exec(store) ?? []
  if (bucket === undefined) return { kind: 'folder', path: path.resolve(store) }
  return {
    kind: 's3',
    url: `${env.S3_ENDPOINT ?? `https://s3.${env.S3_REGION}.amazonaws.com`}/${bucket}`,
    prefix: prefix.replace(/\/+$/, ''),
    region: env.S3_REGION,
    accessKeyId: env.S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: env.S3_SECRET_ACCESS_KEY ?? '',
  }
}

/** Returns warnings about settings that are valid but likely a mistake. */
export function findConfigWarnings({
  trustedProxies,
  publicUrl,
  meta,
}: Pick<Config, 'trustedProxies' | 'publicUrl' | 'meta'>): string[] {
  return [
    ...warnOfAppSecret(meta),
    ...warnOfMissingVerifyToken(meta),
    ...warnOfMissingUrl({ trustedProxies, publicUrl }),
  ]
}

/** All secrets of Meta's apps have this form. */
export function isAppSecret(text: string): boolean {
  return /^[0-9a-f]{32}$/i.test(text)
}

function warnOfAppSecret({ appSecret }: Config['meta']): string[] {
  if (appSecret !== undefined && isAppSecret(appSecret)) return []
  if (appSecret !== undefined)
    return [
      'META_APP_SECRET is not 32 hexadecimal digits, as the secrets of Meta apps are: with a wrong secret, callbacks of WhatsApp are rejected and no status arrives. Copy the secret from the app dashboard of Meta (App settings > Basic).',
    ]
  return [
    'META_APP_SECRET is not set: callbacks of WhatsApp are rejected for every WhatsApp account without an app secret of its own, so no status of its messages arrives. Copy the secret from the app dashboard of Meta (App settings > Basic).',
  ]
}

function warnOfMissingVerifyToken({ verifyToken }: Config['meta']): string[] {
  if (verifyToken !== undefined) return []
  return [
    'META_VERIFY_TOKEN is not set: Waybill rejects the request by which Meta verifies a callback URL, so Meta does not accept the URL. Set it to a random text, such as the output of: openssl rand -hex 16',
  ]
}

function warnOfMissingUrl({ trustedProxies, publicUrl }: Pick<Config, 'trustedProxies' | 'publicUrl'>): string[] {
  if (trustedProxies.length === 0 || publicUrl !== undefined) return []
  return [
    'TRUST_PROXY is set and WAYBILL_PUBLIC_URL is not: set it to the address that browsers use, such as https://waybill.example.com. Without it, the dashboard trusts the Host and X-Forwarded-Proto headers of the proxy, which determine sign-in redirects and whether cookies are restricted to https.',
  ]
}

/**
 * Reads or creates the secret key of embedded mode, stored beside the data and readable only by the file owner. The data
 * folder is locked, so no other process creates one.
 */
export function readOrCreateSecretKey(dataDir: string): [Uint8Array, ...Uint8Array[]] {
  const file = path.join(dataDir, 'secret.key')
  if (!existsSync(file)) {
    if (hasCluster(path.join(dataDir, 'pgdata')))
      throw new ConfigError([
        `${file}: is missing, and the database beside it was made with a key. Restore the file from a backup, or set WAYBILL_SECRET_KEY to the key of the server: stored access tokens cannot be decrypted without it`,
      ])
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    replaceFile(file, randomBytes(secretKeyBytes).toString('base64') + '\n', 0o600)
  }
  const keys = SecretKeys.safeParse(readFileSync(file, 'utf8'))
  if (!keys.success)
    throw new ConfigError([
      `${file}: must hold 32 bytes in base64. Restore it from a backup: stored access tokens cannot be decrypted without it`,
    ])
  return keys.data
}
