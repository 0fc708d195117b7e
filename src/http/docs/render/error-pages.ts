import { type DocumentedErrorCode, documentedErrorCodes, errorHelp } from '../../../../contracts/error-help.ts'
import { describeError, ServiceError } from '../../../../contracts/errors.ts'
import { toFailureBody } from '../../api/errors.ts'
import { toMcpFailureBody } from '../../mcp/mcp.ts'
import { errorCodes } from '../../../whatsapp/error-codes.ts'
import { adviseOnFailure, explainedCodes } from '../../../whatsapp/failure-advice.ts'
import { type PlannedStatus, plans } from '../../../whatsapp/simulator/messages/plans.ts'
import { sandboxRecipients } from '../../../whatsapp/simulator/messages/recipients.ts'

/** The page of one error code, in Markdown. Its links are relative to the folder of the guides. */
interface ErrorPage {
  code: string
  summary: string
  markdown: string
}

/** Returns one page for each error code of the API and for each WhatsApp error code that we can explain. */
export function writeErrorPages(link: (guide: string) => string): ErrorPage[] {
  return [...documentedErrorCodes.map((code) => writeApiError(code, link)), ...explainedCodes.map(writeWhatsAppError)]
}

function writeApiError(code: DocumentedErrorCode, link: (guide: string) => string): ErrorPage {
  const { status, summary, example, exampleDetails } = describeError(code)
  const { meaning, causes, fixes, retry, guides } = errorHelp[code]
  const failed = new ServiceError(code, example, exampleDetails)
  const body = code === 'FOREIGN_ORIGIN' ? toMcpFailureBody(failed) : toFailureBody(failed)
  const markdown = [
    `# ${code}`,
    `HTTP status ${status}. ${meaning}`,
    '## Why it happens',
    list(causes),
    '## What to do',
    list(fixes),
    '## Retry',
    retry,
    '## Example',
    fence('json', JSON.stringify(body, null, 2)),
    '## Related pages',
    list([...guides.filter((guide) => guide !== 'errors.md').map(link), '[All error codes](errors.md)']),
  ]
  return { code, summary, markdown: join(markdown) }
}

function writeWhatsAppError(number: number): ErrorPage {
  const code = String(number)
  const { meaning, advice } = adviseOnFailure({ code, message: '' })
  const markdown = [
    `# WhatsApp error ${code}`,
    meaning,
    '## What to do',
    advice,
    '## How Waybill reports it',
    describeReport(number),
    ...describeTrial(number),
    '## Related pages',
    list(['[All error codes](errors.md)', '[Webhooks](webhooks.md)']),
  ]
  return { code, summary: meaning, markdown: join(markdown) }
}

function describeReport(code: number): string {
  const [meaning] = errorCodes[code] ?? []
  const reported =
    'If WhatsApp reports the error after it accepted the message, the message becomes `failed`, and the webhook event `message.failed` carries the code in `data.error.code`.'
  if (meaning === undefined) return reported
  const { status } = describeError(meaning.errorCode)
  return [
    `If WhatsApp rejects the request with this code, the API returns ${status} \`${meaning.errorCode}\`, and \`failureCode\` contains the code.`,
    meaning.retryAfterSeconds !== undefined && `\`Retry-After\` is ${meaning.retryAfterSeconds} seconds.`,
    meaning.accountUnusable &&
      'Waybill also deactivates the WhatsApp account, so that further sends fail immediately until someone activates it again.',
    meaning.template === 'resync' && 'Waybill also syncs the templates.',
    (meaning.template === 'PAUSED' || meaning.template === 'DISABLED') &&
      `Waybill also treats the template as \`${meaning.template}\` until the next sync.`,
    reported,
  ]
    .filter(Boolean)
    .join(' ')
}

/** The sandbox recipients that cause the error: one whose request is rejected, and one who fails later. */
function describeTrial(code: number): string[] {
  const rejecting = sandboxRecipients.find(({ behaviour }) => behaviour.kind === 'fail' && behaviour.code === code)
  if (rejecting === undefined) return []
  const failing = sandboxRecipients.find(
    ({ behaviour }) => behaviour.kind === 'accept' && endsInFailure(plans[behaviour.plan], code),
  )
  const later = failing === undefined ? '' : `, or to \`${failing.to}\` to get it by webhook`
  const trial = `In the [sandbox](sandbox.md), send a message to \`${rejecting.to}\` to get this error in the response${later}.`
  return ['## Try it', trial]
}

function endsInFailure(plan: readonly PlannedStatus[], code: number): boolean {
  const last = plan.at(-1)
  return last?.status === 'failed' && last.code === code
}

function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join('\n')
}

function fence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}

function join(blocks: readonly string[]): string {
  return `${blocks.join('\n\n')}\n`
}
