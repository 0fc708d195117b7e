import { createHash } from 'node:crypto'
import { withoutFacts } from '../../../contracts/facts/fact.ts'
import { changes } from '../../../contracts/facts/changes.ts'
import { Pin, type TokenReport } from '../../../contracts/dashboard/connect.ts'
import { isRegistered } from '../../../contracts/dashboard/number-status.ts'
import { PhoneNumber } from '../../../contracts/fields.ts'
import { requireAccount } from '../../accounts/account.ts'
import { inspectToken } from '../../whatsapp-accounts/connect/token.ts'
import type { Deps } from '../../deps.ts'
import { BoundedMap } from '../../platform/bounded-map.ts'
import { type CommandResult, auditedForOperator, dataCommand, type Question } from '../command.ts'
import { connectNumber, type FoundNumber, listNumbers, type NamedStep } from '../connect-number.ts'
import { UsageError } from '../failure.ts'

export const whatsappConnect = dataCommand({
  name: 'whatsapp connect',
  summary: 'Connect a phone number step by step, from an access token to the first status',
  args: ['ACC'],
  options: {
    'access-token': { value: 'T', help: 'Access token of a system user; - reads it from standard input', secret: true },
    'app-secret': {
      value: 'S',
      help: 'App secret of its Meta app, if it differs from META_APP_SECRET; - reads it from standard input',
      secret: true,
    },
    'phone-number-id': { value: 'ID', help: 'The number, if the token may use several' },
    pin: {
      value: 'PIN',
      help: 'Six-digit two-step verification PIN, to register the number; - reads it from standard input',
      secret: true,
    },
    'test-to': { value: 'NUMBER', help: 'Send a test message to this number, and wait for its first status' },
    'test-template': { value: 'NAME', help: 'Template of the test message (default: one with few variables)' },
    'test-language': { value: 'CODE', help: 'Its language' },
    default: { help: 'Use it for requests that do not set accountId' },
  },
  notes: [
    'Checks the token and its permissions, stores the number, subscribes the app to the WhatsApp Business Account, sets\nthe callback URL of the app (or prints the values to enter at Meta), registers the number, reads the templates, and\nsends a test message if asked to. In a terminal, the command asks for what is missing.',
    'Every step can be repeated: run the command again with the same token. A number that the account already has keeps\nits ID and gets the new token.',
    'With - each secret is read from standard input, one per line: access token, app secret, PIN.',
  ],
  examples: [
    'waybill whatsapp connect acc_…',
    'waybill whatsapp connect acc_… --access-token - --phone-number-id 106540352242922 --test-to 34600111222 < token.txt',
  ],
  // Runs that end with a question change nothing, so only the last run is recorded.
  audit: 'by itself',
  run: async (deps, { args: [accountId], options }, report) => {
    await requireAccount(deps.db, accountId)
    const accessToken = options['access-token']
    if (accessToken === undefined || accessToken === '')
      return askFor({
        option: 'access-token',
        text: 'Access token of a system user (Meta Business Suite > Settings > System users; it is not shown):',
        isSecret: true,
      })
    const token = await inspectOnce(deps, accessToken)
    if (!isUsable(token)) return stopAtToken(token)
    const numbers = listNumbers(token)
    const number = numbers.find(({ phoneNumberId }) => phoneNumberId === options['phone-number-id'])
    if (!number) return askForNumber(token, numbers, options['phone-number-id'])
    const needsPin = !isRegistered(number)
    const pin = needsPin ? checkPin(options.pin ?? '') : undefined
    if (needsPin && pin === undefined) return askForPin(token, number)
    if (options['test-to'] === undefined)
      return askFor(
        {
          option: 'test-to',
          text: 'Your own phone number for a test message, such as 34600111222 (empty: no test):',
          preset: '',
          isOptional: true,
        },
        { token },
      )
    const test =
      options['test-to'] === ''
        ? undefined
        : {
            to: checkNumber(options['test-to']),
            template: options['test-template'],
            language: options['test-language'],
          }
    // The next run of the command inspects the token again.
    reportsOf(deps).delete(toKey(accessToken))
    report(`✓ token: ${token.message}`)
    const input = {
      accountId,
      accessToken,
      appSecret: options['app-secret'],
      phoneNumberId: number.phoneNumberId,
      wabaId: number.wabaId,
      onBusinessApp: number.onBusinessApp,
      pin,
      makeDefault: options.default,
      test,
    }
    const what = changes.connectWhatsAppAccount(number)
    const connected = await auditedForOperator(deps, { what, accountId }, () =>
      connectNumber(deps, input, (step) => report(formatStep(step))),
    )
    const ok = connected.steps.every((step) => step.ok)
    return {
      json: { ok, token, ...connected },
      text: ok
        ? `${connected.whatsAppAccountId} is connected.`
        : `${connected.whatsAppAccountId} is stored. Some steps have failed: follow the instructions above, then run the command again.`,
      exitCode: ok ? 0 : 1,
    }
  },
})

/** Reports about tokens by WhatsApp client, because the command runs again with each answer of a user. */
const reports = new WeakMap<Deps['whatsapp'], BoundedMap<string, { token: TokenReport; at: number }>>()
const maxReports = 20
/** A user is expected to answer all questions within this time. */
const reportMilliseconds = 2 * 60_000

function reportsOf({ whatsapp }: Pick<Deps, 'whatsapp'>) {
  const known = reports.get(whatsapp)
  if (known) return known
  const made = new BoundedMap<string, { token: TokenReport; at: number }>(maxReports)
  reports.set(whatsapp, made)
  return made
}

/** A digest, so that no token stays in memory. */
function toKey(accessToken: string): string {
  return createHash('sha256').update(accessToken).digest('base64url')
}

/** Inspects a token once for all questions to the user. A token that cannot be used is inspected again. */
async function inspectOnce(deps: Deps, accessToken: string): Promise<TokenReport> {
  const cache = reportsOf(deps)
  const key = toKey(accessToken)
  const now = deps.now().getTime()
  const known = cache.get(key)
  if (known && Math.abs(now - known.at) < reportMilliseconds) return known.token
  const token = withoutFacts(await inspectToken(deps, accessToken))
  if (isUsable(token)) cache.set(key, { token, at: now })
  return token
}

function isUsable({ valid, accounts, missing }: TokenReport): boolean {
  return valid && accounts.length > 0 && missing.length === 0
}

function checkNumber(to: string): string {
  const parsed = PhoneNumber.safeParse(to)
  if (!parsed.success) throw new UsageError(`--test-to ${parsed.error.issues[0]?.message ?? 'is not a phone number'}.`)
  return parsed.data
}

/** Returns undefined for an empty PIN. */
function checkPin(pin: string): string | undefined {
  if (pin === '') return undefined
  if (!Pin.safeParse(pin).success) throw new UsageError('--pin must be six digits.')
  return pin
}

function askFor(question: Question, json: object = {}): CommandResult {
  return {
    json: { ok: false, missing: `--${question.option}`, message: question.text, ...json },
    text: `Missing: --${question.option}. ${question.text}`,
    exitCode: 1,
    question,
  }
}

function stopAtToken(token: TokenReport): CommandResult {
  return {
    json: { ok: false, token, steps: [] },
    text: formatStep({ step: 'token', ...token, ok: false }),
    exitCode: 1,
  }
}

/** If the token may use only one number, that number is the preset. */
function askForNumber(token: TokenReport, numbers: FoundNumber[], given: string | undefined): CommandResult {
  const list = numbers.map((number) => `  ${describeNumber(number)}`).join('\n')
  if (given !== undefined)
    return {
      json: { ok: false, token, message: `The token may not use phone number ID ${given}.`, steps: [] },
      text: `✗ number: The token may not use phone number ID ${given}. It may use:\n${list}`,
      exitCode: 1,
    }
  const [only] = numbers
  const preset = numbers.length === 1 ? only?.phoneNumberId : undefined
  const question = { option: 'phone-number-id', text: `Which number? Enter its ID.\n${list}\nPhone number ID:` }
  return askFor({ ...question, ...(preset !== undefined && { preset }) }, { token })
}

function askForPin(token: TokenReport, number: FoundNumber): CommandResult {
  return askFor(
    {
      option: 'pin',
      text: `The number ${describeNumber(number)} is not registered. Enter its six-digit two-step verification PIN, or choose one if it has none (it is not shown):`,
      isSecret: true,
    },
    { token },
  )
}

function describeNumber({ phoneNumberId, displayPhoneNumber, verifiedName, status }: FoundNumber): string {
  return [phoneNumberId, displayPhoneNumber, verifiedName, status?.toLowerCase()].filter(Boolean).join('  ')
}

type ShownStep = Omit<NamedStep, 'step'> & { step: string }

function formatStep({ step, ok, message, fix, enter }: ShownStep): string {
  const values = enter && [
    ...(enter.callbackUrl === undefined ? [] : [`Callback URL  ${enter.callbackUrl}`]),
    ...(enter.verifyToken === undefined ? [] : [`Verify token  ${enter.verifyToken}`]),
    `Fields        ${enter.fields.join(', ')}`,
  ]
  return [
    `${ok ? '✓' : '✗'} ${step}: ${message}`,
    ...(fix === undefined ? [] : [`  → ${fix}`]),
    ...(values ?? []).map((line) => `    ${line}`),
  ].join('\n')
}
