import { withoutFacts } from '../../../contracts/facts/fact.ts'
import { changes } from '../../../contracts/facts/changes.ts'
import { Pin, type TokenReport } from '../../../contracts/dashboard/connect.ts'
import { isRegistered } from '../../../contracts/dashboard/number-status.ts'
import { PhoneNumber } from '../../../contracts/fields.ts'
import { requireAccount } from '../../accounts/account.ts'
import { inspectToken } from '../../whatsapp-accounts/connect/token.ts'
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
  // An unanswered question ends the command, and is not recorded.
  audit: 'by itself',
  run: async (deps, { args: [accountId], options }, { report, ask }) => {
    await requireAccount(deps.db, accountId)
    const accessToken = options['access-token'] || (await ask(tokenQuestion))
    if (accessToken === undefined) return describeMissing('access-token', tokenQuestion)
    const token = withoutFacts(await inspectToken(deps, accessToken))
    if (!isUsable(token)) return stopAtToken(token)
    const numbers = listNumbers(token)
    const whichNumber = askForNumber(numbers)
    const phoneNumberId = options['phone-number-id'] ?? (await ask(whichNumber))
    if (phoneNumberId === undefined) return describeMissing('phone-number-id', whichNumber, { token })
    const number = numbers.find((one) => one.phoneNumberId === phoneNumberId)
    if (!number) return describeUnknownNumber(phoneNumberId, token, numbers)
    const needsPin = !isRegistered(number)
    const whichPin = askForPin(number)
    const pin = needsPin ? options.pin || (await ask(whichPin)) : undefined
    if (needsPin && pin === undefined) return describeMissing('pin', whichPin, { token })
    if (pin !== undefined && !Pin.safeParse(pin).success) throw new UsageError('--pin must be six digits.')
    const to = options['test-to'] ?? (await ask(testQuestion))
    if (to === undefined) return describeMissing('test-to', testQuestion, { token })
    const test = to
      ? { to: checkNumber(to), template: options['test-template'], language: options['test-language'] }
      : undefined
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

function isUsable({ valid, accounts, missing }: TokenReport): boolean {
  return valid && accounts.length > 0 && missing.length === 0
}

function checkNumber(to: string): string {
  const parsed = PhoneNumber.safeParse(to)
  if (!parsed.success) throw new UsageError(`--test-to ${parsed.error.issues[0]?.message ?? 'is not a phone number'}.`)
  return parsed.data
}

const tokenQuestion: Question = {
  text: 'Access token of a system user (Meta Business Suite > Settings > System users; it is not shown):',
  isSecret: true,
}

const testQuestion: Question = {
  text: 'Your own phone number for a test message, such as 34600111222 (empty: no test):',
  preset: '',
  isOptional: true,
}

function describeMissing(option: string, { text }: Question, json: object = {}): CommandResult {
  return {
    json: { ok: false, missing: `--${option}`, message: text, ...json },
    text: `Missing: --${option}. ${text}`,
    exitCode: 1,
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
function askForNumber(numbers: FoundNumber[]): Question {
  const [only, ...others] = numbers
  return {
    text: `Which number? Enter its ID.\n${listOf(numbers)}\nPhone number ID:`,
    ...(only && others.length === 0 && { preset: only.phoneNumberId }),
  }
}

function describeUnknownNumber(given: string, token: TokenReport, numbers: FoundNumber[]): CommandResult {
  const message = `The token may not use phone number ID ${given}.`
  return {
    json: { ok: false, token, message, steps: [] },
    text: `✗ number: ${message} It may use:\n${listOf(numbers)}`,
    exitCode: 1,
  }
}

function listOf(numbers: FoundNumber[]): string {
  return numbers.map((number) => `  ${describeNumber(number)}`).join('\n')
}

function askForPin(number: FoundNumber): Question {
  return {
    text: `The number ${describeNumber(number)} is not registered. Enter its six-digit two-step verification PIN, or choose one if it has none (it is not shown):`,
    isSecret: true,
  }
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
