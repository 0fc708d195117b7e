import { setTimeout as delay } from 'node:timers/promises'
import { connectFacts } from '../../contracts/facts/connect.ts'
import { inEnglish, withoutFacts } from '../../contracts/facts/fact.ts'
import type { SendMessageRequest } from '../../contracts/api/message.ts'
import type { ConnectStep, TokenReport } from '../../contracts/dashboard/connect.ts'
import { listTrials } from '../../contracts/dashboard/template.ts'
import { ServiceError } from '../../contracts/errors.ts'
import { connectWhatsAppAccount } from '../whatsapp-accounts/add.ts'
import { configureCallback, registerNumber, subscribeStored } from '../whatsapp-accounts/connect/subscribe.ts'
import { checkNow } from '../whatsapp-accounts/health/check.ts'
import { findHealth } from '../whatsapp-accounts/health/store.ts'
import { describeMarketing } from '../whatsapp-accounts/health/marketing.ts'
import { findByPhoneNumberId, findWhatsAppAccount } from '../whatsapp-accounts/store.ts'
import { reconnectWhatsAppAccount } from '../whatsapp-accounts/update.ts'
import type { Deps } from '../deps.ts'
import { createDisplacementRecorder } from '../http/displacement.ts'
import { getMessage } from '../messages/queries/read.ts'
import { sendFromDashboard } from '../messages/send/send-from-dashboard.ts'
import { listOwnTemplates } from '../templates/list.ts'
import { syncTemplates } from '../templates/sync.ts'
import { waybill } from './failure.ts'

/** Everything that is needed to connect a number. */
export interface ConnectInput {
  accountId: string
  accessToken: string
  appSecret?: string | undefined
  phoneNumberId: string
  wabaId: string
  onBusinessApp?: boolean | undefined
  /** Undefined if the number is registered already. */
  pin?: string | undefined
  makeDefault?: boolean | undefined
  test?: { to: string; template?: string | undefined; language?: string | undefined } | undefined
}

/** A step by its name, for programs and people. */
export interface NamedStep extends Omit<ConnectStep, 'facts'> {
  step: 'account' | 'subscription' | 'callback' | 'registration' | 'templates' | 'test' | 'status' | 'marketing'
  enter?: { callbackUrl?: string; verifyToken?: string; fields: string[] }
}

export interface Connected {
  whatsAppAccountId: string
  steps: NamedStep[]
}

export type FoundNumber = TokenReport['accounts'][number]['numbers'][number] & { wabaId: string }

export function listNumbers({ accounts }: TokenReport): FoundNumber[] {
  return accounts.flatMap(({ wabaId, numbers }) => numbers.map((number) => ({ ...number, wabaId })))
}

/**
 * Connects a number step by step, and reports each one. A step that fails does not stop the others, except the first:
 * all can be repeated by running the command again.
 */
export async function connectNumber(
  deps: Deps,
  input: ConnectInput,
  report: (step: NamedStep) => void,
): Promise<Connected> {
  const { accountId } = input
  const steps: NamedStep[] = []
  const addStep = (result: NamedStep): void => {
    const step = withoutFacts(result)
    steps.push(step)
    report(step)
  }
  const { whatsAppAccountId, subscription } = await saveAccount(deps, input)
  addStep({ step: 'account', ok: true, message: `The number is stored as ${whatsAppAccountId}.` })
  addStep({ step: 'subscription', ...subscription })
  addStep({ step: 'callback', ...(await configureCallback(deps, { accountId, whatsAppAccountId })) })
  addStep({ step: 'registration', ...(await register(deps, { accountId, whatsAppAccountId }, input)) })
  addStep({ step: 'templates', ...(await readTemplates(deps, accountId)) })
  if (input.test)
    for (const step of await sendTestMessage(deps, { accountId, whatsAppAccountId }, input.test).catch(toFailedTest))
      addStep(step)
  await checkNow(deps, { accountId, whatsAppAccountId })
  const row = await findWhatsAppAccount(deps.db, accountId, whatsAppAccountId)
  const marketing = row && describeMarketing(row)
  if (marketing) addStep({ step: 'marketing', ...marketing })
  return { whatsAppAccountId, steps }
}

/** A number that this account already has gets the new token and keeps its ID. The app is subscribed in both cases. */
async function saveAccount(
  deps: Deps,
  input: ConnectInput,
): Promise<{ whatsAppAccountId: string; subscription: ConnectStep }> {
  const { accountId, accessToken, appSecret, phoneNumberId, wabaId, makeDefault } = input
  const known = await findByPhoneNumberId(deps.db, phoneNumberId)
  if (known?.accountId === accountId) {
    const target = { accountId, whatsAppAccountId: known.id }
    const { subscription } = await reconnectWhatsAppAccount(deps, target, { accessToken, appSecret, wabaId })
    return {
      whatsAppAccountId: known.id,
      subscription: subscription ?? (await subscribeStored(deps, target)),
    }
  }
  const number = { phoneNumberId, wabaId, accessToken, appSecret, makeDefault }
  return connectWhatsAppAccount(deps, accountId, number, createDisplacementRecorder(deps))
}

interface Target {
  accountId: string
  whatsAppAccountId: string
}

async function register(
  deps: Deps,
  target: Target,
  { pin, onBusinessApp }: Pick<ConnectInput, 'pin' | 'onBusinessApp'>,
): Promise<ConnectStep> {
  if (onBusinessApp) return { ok: true, message: inEnglish(connectFacts.onBusinessApp()) }
  if (pin === undefined) return { ok: true, message: 'The number is registered with the Cloud API already.' }
  return registerNumber(deps, target, pin)
}

async function readTemplates(deps: Deps, accountId: string): Promise<ConnectStep> {
  try {
    const { synced, approved } = await syncTemplates(deps, accountId)
    if (approved > 0) return { ok: true, message: `${synced} templates were read, ${approved} of them approved.` }
    return {
      ok: false,
      message: `${synced} templates were read, and none is approved.`,
      fix: 'Create a template in WhatsApp Manager, and sync again once Meta has approved it.',
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { ok: false, message: error.message, fix: `Run: ${waybill} template sync ${accountId}` }
  }
}

/** How long to wait for a status: WhatsApp usually reports the first one within seconds. */
const statusSeconds = 30
const pollMilliseconds = 250

async function sendTestMessage(
  deps: Deps,
  target: Target,
  test: NonNullable<ConnectInput['test']>,
): Promise<NamedStep[]> {
  const template = await chooseTemplate(deps, target, test)
  if (!template)
    return [
      {
        step: 'test',
        ok: false,
        message: 'No approved template can be sent as a test.',
        fix: 'Create one in WhatsApp Manager, or name one with --test-template and --test-language.',
      },
    ]
  const since = deps.now()
  const { accountId, whatsAppAccountId } = target
  const sent = await sendFromDashboard(deps, { accountId }, { ...template, to: test.to, accountId: whatsAppAccountId })
  if (sent.status === 'failed')
    return [
      {
        step: 'test',
        ok: false,
        message: sent.failure?.meaning ?? 'WhatsApp rejected the test message.',
        ...(sent.failure && { fix: sent.failure.advice }),
      },
    ]
  const accepted = `WhatsApp accepted the template ${template.template} to ${test.to} as ${sent.messageId}.`
  return [{ step: 'test', ok: true, message: accepted }, await awaitStatus(deps, target, sent.messageId, since)]
}

/** The number is stored by now, so the command goes on. */
function toFailedTest(error: unknown): NamedStep[] {
  if (!(error instanceof ServiceError)) throw error
  const { message, remedy } = error
  return [{ step: 'test', ok: false, message, ...(remedy !== undefined && { fix: remedy }) }]
}

async function awaitStatus(deps: Deps, target: Target, messageId: string, since: Date): Promise<NamedStep> {
  const deadline = performance.now() + statusSeconds * 1000
  while (performance.now() < deadline) {
    const { status } = await getMessage(deps, target, { messageId })
    if (status === 'delivered' || status === 'read')
      return { step: 'status', ok: true, message: `The first status arrived: the message is ${status}.` }
    if (status === 'failed')
      return {
        step: 'status',
        ok: false,
        message: 'A status arrived: the message failed.',
        fix: `${waybill} message get ${messageId}`,
      }
    const lastStatusAt = (await findHealth(deps.db, target))?.lastStatusAt
    if (lastStatusAt && lastStatusAt >= since)
      return { step: 'status', ok: true, message: 'The first status arrived: WhatsApp reaches this server.' }
    await delay(pollMilliseconds)
  }
  return {
    step: 'status',
    ok: false,
    message: `No status arrived within ${statusSeconds} seconds.`,
    fix: 'Check the steps subscription and callback above, and that the callback URL is reachable from the internet. Then run this command again.',
  }
}

/** Returns the requested template, or an approved one with few variables, filled with example values. */
async function chooseTemplate(
  deps: Deps,
  { accountId, whatsAppAccountId }: Target,
  test: NonNullable<ConnectInput['test']>,
): Promise<SendMessageRequest | undefined> {
  const { items } = await listOwnTemplates(deps, { accountId, whatsAppAccountId, status: 'APPROVED', limit: 100 })
  const [chosen] = listTrials(
    items
      .filter(({ name }) => test.template === undefined || name === test.template)
      .filter(({ language }) => test.language === undefined || language === test.language),
  )
  return chosen
}
