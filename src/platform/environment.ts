import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'
import { type DatabaseUrl, DatabaseUrlError, parseDatabaseUrl } from './database-url.ts'
import { parseDuration, secondsOf } from './duration.ts'
import { SmtpUrl } from './email/smtp-url.ts'
import { logLevels } from './log.ts'
import { parseNoProxy, parseProxyUrl } from './proxy.ts'

export const secretKeyBytes = 32

/** One key, or several after a rotation: the first encrypts and all of them decrypt. */
export const SecretKeys = z.string().transform((text, context): [Uint8Array, ...Uint8Array[]] => {
  const parts = text.split(',').map((part) => part.trim())
  const [first, ...others] = parts.map((part) => Buffer.from(part, 'base64'))
  // Node ignores what follows `=`, such as a second key after a line break.
  if (!first || !parts.every((part) => /^[A-Za-z0-9+/_-]{43}=?$/.test(part))) {
    context.addIssue(
      'must be 32 bytes in base64 (several, separated by commas, while a key is rotated). Make one with: openssl rand -base64 32',
    )
    return z.NEVER
  }
  return [first, ...others]
})

const proxyGroups = ['loopback', 'linklocal', 'uniquelocal']

const TrustedProxies = z.string().transform((text, context): string[] => {
  const proxies = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  for (const proxy of proxies) {
    if (proxyGroups.includes(proxy) || isAddressOrRange(proxy)) continue
    context.addIssue(
      `must list the addresses or CIDR ranges of your proxies, or ${proxyGroups.join(', ')}, separated by commas; "${proxy}" is neither`,
    )
  }
  return proxies
})

/**
 * Not the forms of `inet_aton`, which ipaddr.js accepts: `1`, which counts proxies in other programs, would be the address
 * 0.0.0.1, and `010.0.0.0/8` the range 8.0.0.0/8.
 */
function isAddressOrRange(text: string): boolean {
  const [address = ''] = text.split('/', 1)
  return isIP(address) !== 0 && !address.includes('%') && (address === text || ipaddr.isValidCIDR(text))
}

/** Receivers in the operator's own network, as `URL` spells their hosts; IPv6 addresses without brackets. */
const PrivateHosts = z.string().transform((text, context): string[] =>
  text.split(',').map((part) => {
    const [, wildcard = '', name = ''] = /^(\*\.)?(.+)$/.exec(part.trim()) ?? []
    const host = toHost(name)
    if (host !== undefined) return wildcard + host
    context.addIssue(
      `must list hosts such as orders.shop.svc.cluster.local, *.intern.example.com or 10.0.3.7, separated by commas; "${part.trim()}" is neither a name nor an address`,
    )
    return z.NEVER
  }),
)

function toHost(text: string): string | undefined {
  const url = URL.parse(`http://${isIP(text) === 6 ? `[${text}]` : text}/`)
  const isHostAlone = url !== null && url.href === `http://${url.hostname}/` && !/[*/]/.test(text)
  return isHostAlone ? url.hostname.replaceAll(/[[\]]|\.$/g, '') : undefined
}

/** `5s,5m,2h`: the delays between the attempts of a delivery, in seconds. */
const RetrySchedule = z.string().transform((text, context): number[] =>
  text.split(',').map((part) => {
    const seconds = parseDuration(part.trim())
    if (seconds !== undefined) return seconds
    context.addIssue('must be a list of durations such as 5s, 5m, 2h or 1d, separated by commas')
    return z.NEVER
  }),
)

/** `1h`, in seconds. */
const Duration = z.string().transform((text, context): number => {
  const seconds = parseDuration(text.trim())
  if (seconds !== undefined) return seconds
  context.addIssue('must be a duration such as 30m, 1h or 2d')
  return z.NEVER
})

/** From one second to `maxSeconds`. */
function shortDuration(maxSeconds: number) {
  return Duration.refine((seconds) => seconds >= 1 && seconds <= maxSeconds, `must be between 1s and ${maxSeconds}s`)
}

/** Only a shell replaces `~` and `$HOME`, and not in quotes: elsewhere, a folder of that name would be created. */
const Folder = z
  .string()
  .regex(/^[^~$]/, 'must be the path of a folder. ~ and variables such as $HOME are not replaced: write the whole path')

const WebUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
  .transform((url) => url.replace(/\/+$/, ''))

function wholeNumber(min: number, max: number) {
  return z.coerce
    .number('must be a number')
    .int('must be a whole number')
    .min(min, `must be at least ${min}`)
    .max(max, `must be at most ${max}`)
}

const ProxyUrl = z.string().transform((text, context): URL => {
  const url = parseProxyUrl(text)
  if (url) return url
  context.addIssue('must be the URL of an http or https proxy, such as http://user:password@proxy.example.com:3128')
  return z.NEVER
})

const PostgresUrl = z.string().transform((text, context): DatabaseUrl => {
  try {
    return parseDatabaseUrl(text)
  } catch (error) {
    if (!(error instanceof DatabaseUrlError)) throw error
    context.addIssue(`${error.message}; leave it out for the embedded database`)
    return z.NEVER
  }
})

/** `s3://bucket/prefix`. Bucket names as S3 allows them. */
export const s3Address = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w!.*'()/-]*))?$/

const OptionalText = z.string().optional()

/** All variables of the environment with their texts in the configuration guide, and how they depend on each other. */
export const Environment = z
  .object({
    HOST: z.string().prefault('127.0.0.1').describe('Address to listen on'),
    PORT: wholeNumber(0, 65_535).prefault('3000').describe('Port to listen on'),
    DATABASE_URL: PostgresUrl.optional().describe(
      'PostgreSQL 14 or newer, as `postgres://…`, with the [TLS parameters](deploying.md#tls-to-postgresql) `sslmode`, `sslrootcert`, `sslcert` and `sslkey`, and with [several hosts](deploying.md#failover-to-a-standby) of a cluster. If absent, the embedded database is used',
    ),
    DATABASE_PASSWORD_COMMAND: OptionalText.describe(
      'Shell command that prints the password of the database user, such as a token of a cloud provider. It runs when a connection is opened, at most every 5 minutes (at once if PostgreSQL rejects the password), and must end within 10 seconds',
    ),
    PGPASSWORD: OptionalText.describe('Password of the database user, if `DATABASE_URL` has none'),
    PGPASSFILE: OptionalText.meta({
      default: '~/.pgpass',
      description:
        'File with passwords in the `.pgpass` format of libpq, readable by its owner only. It is read for each new connection, if neither `DATABASE_URL` nor `PGPASSWORD` has a password',
    }),
    DATABASE_STATEMENT_TIMEOUT: shortDuration(15)
      .prefault('8s')
      .describe('PostgreSQL cancels a statement that takes longer, `1s` to `15s`. Migrations have no timeout'),
    DATABASE_LOCK_TIMEOUT: shortDuration(10)
      .prefault('1s')
      .describe(
        'PostgreSQL cancels a statement that waits longer for a row or table that another transaction has locked, `1s` to `10s`',
      ),
    WAYBILL_DATA_DIR: Folder.prefault('.waybill').describe(
      'Folder of the embedded database, its key, its control socket, the journals, uploaded files (`media`) and uploads in progress (`spool`). With PostgreSQL it holds only the journals and the files',
    ),
    WAYBILL_SECRET_KEY: SecretKeys.optional().describe(
      '32 bytes in base64; encrypts access tokens, app secrets, webhook secrets and headers (AES-256-GCM). Required with `DATABASE_URL`; the embedded database keeps one in `secret.key`. With several keys, separated by commas, the first encrypts and all of them decrypt',
    ),
    GRAPH_API_URL: WebUrl.prefault('https://graph.facebook.com').describe('Base URL of the Graph API'),
    GRAPH_API_VERSION: z
      .string()
      .regex(/^v\d+\.\d+$/, 'must look like v25.0')
      .prefault('v26.0')
      .describe('Version of the Graph API'),
    META_APP_SECRET: OptionalText.describe(
      'App secret that verifies callbacks for numbers without an app secret of their own',
    ),
    META_VERIFY_TOKEN: OptionalText.describe(
      'Verify token that Meta presents when the callback is configured; if absent, the handshake is rejected',
    ),
    TRUST_PROXY: TrustedProxies.default([]).describe(
      'Proxies whose `X-Forwarded-For` is trusted: addresses, CIDR ranges, `loopback`, `linklocal`, `uniquelocal`, separated by commas',
    ),
    WEBHOOK_RETRY_SCHEDULE: RetrySchedule.prefault('5s,5m,30m,2h,5h,10h,10h').describe(
      'Delays between the attempts of a delivery',
    ),
    WEBHOOK_TIMEOUT_SECONDS: z.coerce
      .number('must be a number')
      .min(1, 'must be at least 1')
      .max(120, 'must be at most 120')
      .prefault('15')
      .describe('Timeout of an attempt, 1 to 120'),
    WEBHOOK_ALLOW_PRIVATE: z
      .enum(['true', 'false'], 'must be true or false')
      .prefault('false')
      .describe('`true` allows http and private addresses, for development'),
    WEBHOOK_PRIVATE_HOSTS: PrivateHosts.default([]).describe(
      'Receivers in your own network: hosts that may have http URLs and private addresses, separated by commas, such as `orders.shop.svc.cluster.local` or `*.intern.example.com`',
    ),
    // PostgreSQL has no times before 4713 BC.
    WAYBILL_RETENTION_DAYS: wholeNumber(1, 1_000_000)
      .prefault('30')
      .describe(
        'How long messages, events, deliveries and attempts are kept. Whole weeks are dropped, so data can remain up to a week longer. Must be at least twice as long as the retry schedule. Daily counts are kept for at least 184 days',
      ),
    WAYBILL_REQUEST_LOG_DAYS: wholeNumber(0, 365)
      .prefault('7')
      .describe(
        'How long API requests are kept, 0 to 365 days; `0` records none. Whole weeks are dropped, so requests can remain up to a week longer',
      ),
    WAYBILL_OUTCOME_UNKNOWN_AFTER: Duration.refine((seconds) => seconds >= secondsOf.m, 'must be at least 1m')
      .prefault('1h')
      .describe('Age at which a message without an outcome is reported (once); at least `1m`'),
    WAYBILL_SUPPRESSION_QUOTA: wholeNumber(1, 100_000_000)
      .prefault('1000000')
      .describe(
        'How many recipients the suppression list of an account can have. Opt-outs of recipients are stored beyond it, too',
      ),
    WAYBILL_TEMPLATE_QUOTA: wholeNumber(1, 1_000_000)
      .prefault('10000')
      .describe(
        'How many templates an account can have before it cannot create more, including deleted ones. Templates that were created at WhatsApp are stored beyond it, too',
      ),
    WAYBILL_SAVED_VIEW_QUOTA: wholeNumber(1, 1000)
      .prefault('30')
      .describe('How many views of the message log a member can save in each account'),
    WAYBILL_MEDIA_STORE: Folder.optional().meta({
      default: '.waybill/media',
      description:
        'Where uploaded files are stored: a folder (by default `media` in `WAYBILL_DATA_DIR`), or a bucket of an S3-compatible store, such as `s3://bucket/prefix`. Processes on several machines need a bucket, or a folder that all of them share',
    }),
    S3_ENDPOINT: WebUrl.optional().describe(
      'Base URL of the S3-compatible store, such as `https://minio.example.com`. If absent, Amazon S3 is used',
    ),
    S3_REGION: z.string().prefault('us-east-1').describe('Region of the bucket'),
    S3_ACCESS_KEY_ID: OptionalText.describe('Access key that can read, write and delete objects of the bucket'),
    S3_SECRET_ACCESS_KEY: OptionalText.describe('Secret of the access key'),
    WAYBILL_MEDIA_QUOTA_MB: wholeNumber(1, 1_000_000)
      .prefault('2048')
      .describe('How much an account can store, in megabytes'),
    WAYBILL_MEDIA_MAX_UPLOADS: wholeNumber(1, 1000)
      .prefault('8')
      .describe('How many files an account can upload at the same time to each process'),
    WAYBILL_MEDIA_EXPIRY: Duration.refine((seconds) => seconds >= secondsOf.h, 'must be at least 1h')
      .prefault('90d')
      .describe('How long an uploaded file is kept after its last upload; at least `1h`'),
    WAYBILL_PUBLIC_URL: WebUrl.refine(
      (url) => `${new URL(url).origin}/` === new URL(url).href,
      'must have no path, query or user name, such as https://waybill.example.com',
    )
      .optional()
      .describe(
        'Address of the dashboard in browsers, such as `https://waybill.example.com`. If absent, the address of each request is used, and links start with `HOST` and `PORT`',
      ),
    HTTPS_PROXY: ProxyUrl.optional().describe(
      '[Proxy](deploying.md#outbound-proxy) for outgoing https requests, such as `http://user:password@proxy.example.com:3128`',
    ),
    HTTP_PROXY: ProxyUrl.optional().describe('Proxy for outgoing http requests'),
    NO_PROXY: z
      .string()
      .transform(parseNoProxy)
      .default([])
      .describe(
        'Servers that are reached without a proxy: host names (with their subdomains), addresses or CIDR ranges, separated by commas, or `*` for all',
      ),
    SMTP_URL: SmtpUrl.optional().describe(
      'SMTP server for invitations, password resets and alerts: `smtps://user:password@host:465`, or `smtp://user:password@host:587` with STARTTLS, which is required except on the loopback interface. Requires `WAYBILL_PUBLIC_URL`; if absent, no email is sent',
    ),
    SMTP_FROM: z
      .email('must be an email address, such as waybill@example.com')
      .optional()
      .describe('Email address of the sender; by default `waybill@` and the host of `WAYBILL_PUBLIC_URL`'),
    OIDC_ISSUER: WebUrl.optional().describe(
      'OpenID provider for dashboard sign-in; requires the other two `OIDC_` variables',
    ),
    OIDC_CLIENT_ID: OptionalText.describe('Client ID at the OpenID provider'),
    OIDC_CLIENT_SECRET: OptionalText.describe('Client secret at the OpenID provider'),
    LOG_LEVEL: z
      .enum(logLevels, `must be one of ${logLevels.join(', ')}`)
      .prefault('info')
      .describe('`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`'),
    METRICS_TOKEN: OptionalText.describe('Bearer token for `/metrics`; if absent, `/metrics` rejects every request'),
    OTEL_EXPORTER_OTLP_ENDPOINT: OptionalText.describe(
      'Base URL of an OTLP collector, such as `http://localhost:4318`, which receives traces and metrics. See [OpenTelemetry](opentelemetry.md) for the other `OTEL_` variables',
    ),
  })
  .superRefine((env, context) => {
    if (env.DATABASE_URL !== undefined && env.WAYBILL_SECRET_KEY === undefined)
      context.addIssue({
        code: 'custom',
        path: ['WAYBILL_SECRET_KEY'],
        message: 'is required with DATABASE_URL: 32 bytes in base64. Make one with: openssl rand -base64 32',
      })
    if (env.DATABASE_PASSWORD_COMMAND !== undefined) {
      const problem = findPasswordConflict(env.DATABASE_URL, env.PGPASSWORD)
      if (problem !== undefined)
        context.addIssue({ code: 'custom', path: ['DATABASE_PASSWORD_COMMAND'], message: problem })
    }
    if (env.DATABASE_LOCK_TIMEOUT > env.DATABASE_STATEMENT_TIMEOUT)
      context.addIssue({
        code: 'custom',
        path: ['DATABASE_LOCK_TIMEOUT'],
        message: 'must not be longer than DATABASE_STATEMENT_TIMEOUT',
      })
    if (env.SMTP_URL !== undefined && env.WAYBILL_PUBLIC_URL === undefined)
      context.addIssue({
        code: 'custom',
        path: ['WAYBILL_PUBLIC_URL'],
        message: 'is required with SMTP_URL: the links in emails start with it',
      })
    if (env.WAYBILL_MEDIA_STORE !== undefined && /^s3:|:\/\//i.test(env.WAYBILL_MEDIA_STORE)) {
      if (!s3Address.test(env.WAYBILL_MEDIA_STORE))
        context.addIssue({
          code: 'custom',
          path: ['WAYBILL_MEDIA_STORE'],
          message: 'must be a folder, or a bucket such as s3://bucket or s3://bucket/prefix',
        })
      for (const name of ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const)
        if (env[name] === undefined)
          context.addIssue({ code: 'custom', path: [name], message: 'is required if WAYBILL_MEDIA_STORE is a bucket' })
    }
    const oidc = [env.OIDC_ISSUER, env.OIDC_CLIENT_ID, env.OIDC_CLIENT_SECRET]
    if (oidc.some((value) => value !== undefined))
      for (const [index, name] of (['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const).entries())
        if (oidc[index] === undefined)
          context.addIssue({ code: 'custom', path: [name], message: 'is required with the other OIDC_ variables' })
    // Doubled, because jitter and Retry-After headers lengthen the delays.
    const retryDays = (2 * env.WEBHOOK_RETRY_SCHEDULE.reduce((sum, wait) => sum + wait, 0)) / secondsOf.d
    if (env.WAYBILL_RETENTION_DAYS < retryDays)
      context.addIssue({
        code: 'custom',
        path: ['WAYBILL_RETENTION_DAYS'],
        message: `must be at least ${Math.ceil(retryDays)}, twice the total of WEBHOOK_RETRY_SCHEDULE`,
      })
  })

/** With two passwords, it would be unclear which one is used. */
function findPasswordConflict(
  database: DatabaseUrl | undefined,
  passwordVariable: string | undefined,
): string | undefined {
  if (database === undefined) return undefined
  const { password, searchParams } = new URL(database.url)
  const rival =
    password !== '' || searchParams.has('password')
      ? 'DATABASE_URL contains a password'
      : (passwordVariable ?? '') === ''
        ? undefined
        : 'PGPASSWORD is set, too'
  return rival && `is set, and ${rival}. Remove one of them`
}

/** Secrets that can also be read from the file named by `<name>_FILE`, as container platforms mount them. */
export const secretVariables = [
  'DATABASE_URL',
  'WAYBILL_SECRET_KEY',
  'META_APP_SECRET',
  'META_VERIFY_TOKEN',
  'SMTP_URL',
  'OIDC_CLIENT_SECRET',
  'S3_SECRET_ACCESS_KEY',
  'METRICS_TOKEN',
] as const
