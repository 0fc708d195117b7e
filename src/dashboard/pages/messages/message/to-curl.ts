import { type Message, sendMessage } from '../../../../../contracts/api/message.ts'
import type { StoredValues } from '../../../../../contracts/dashboard/message.ts'
import type { OwnTemplate } from '../../../../../contracts/dashboard/template.ts'
import { UserId } from '../../../../../contracts/fields.ts'
import { quoteForShell } from '../../../ui/quote-for-shell.ts'
import { takesCode, valuesWith, variablesWith } from './template-values.ts'

/** The API request that sends this message. Values that are not stored become `<name>`; the key is a shell variable. */
export function toCurl(
  { messageId, to, template, language, externalId, accountId }: Message,
  { template: of, values }: { template: OwnTemplate | undefined; values: StoredValues | undefined },
  origin: string,
): string {
  const recipient = UserId.safeParse(to).success ? { recipient: to } : { to }
  const body = { ...recipient, template, language, ...(values ?? (of && blanksOf(of))), externalId, accountId }
  return `curl ${quoteForShell(origin + sendMessage.path)} \\
  -H "X-API-Key: $WAYBILL_API_KEY" \\
  -H "Content-Type: application/json" \\
  -H "Idempotency-Key: again-${messageId}" \\
  -d ${quoteForShell(JSON.stringify(body, null, 2))}`
}

function blanksOf(template: OwnTemplate): object {
  const variables = takesCode(template) ? {} : variablesWith(template, writeBlank)
  return { ...(Object.keys(variables).length > 0 && { variables }), ...valuesWith(template, writeBlank) }
}

function writeBlank(name: string): string {
  return `<${name}>`
}
