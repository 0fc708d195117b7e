import type { SendMessageRequest } from '../../../contracts/api/message.ts'
import type { MessageContent, StoredValues } from '../../../contracts/dashboard/message.ts'
import type { SecretBox } from '../../platform/secrets.ts'
import { listTemplateParts } from '../../templates/fill/parts.ts'
import type { FilledTemplate } from '../../templates/fill/values.ts'
import type { TemplateText } from '../../templates/placeholders.ts'
import { renderMessage } from '../../templates/preview.ts'

/** Identifies the message of a content. It is authenticated by the encryption, so that contents cannot be swapped. */
interface ContentId {
  accountId: string
  messageId: string
}

function contentPurpose({ accountId, messageId }: ContentId): string {
  return `content of ${accountId} ${messageId}`
}

/**
 * Returns the content of a message to store: the rendered text, because the template can change after the send, and the
 * requested values, so that the request can be repeated.
 */
export function describeContent(
  template: TemplateText,
  filled: FilledTemplate,
  request: SendMessageRequest,
): MessageContent {
  const { buttons: _labels, ...shown } = renderMessage(template, filled)
  const offer = listTemplateParts(template).offer?.text
  return { values: valuesOf(request), shown: { ...shown, ...(offer !== undefined && { offer }) } }
}

/** `code` is left out, because contents with a code are not stored. */
function valuesOf({
  variables,
  header,
  buttons,
  cards,
  limitedTimeOffer,
  components,
}: SendMessageRequest): StoredValues {
  return { variables, header, buttons, cards, limitedTimeOffer, components }
}

export function sealContent(secrets: Pick<SecretBox, 'encrypt'>, id: ContentId, content: MessageContent): string {
  return secrets.encrypt(JSON.stringify(content), contentPurpose(id))
}

/** Returns the stored text, to search or re-encrypt it. Undefined if no key of this server decrypts it. */
export function decryptContent(
  secrets: Pick<SecretBox, 'decrypt'>,
  id: ContentId,
  ciphertext: string,
): string | undefined {
  try {
    return secrets.decrypt(ciphertext, contentPurpose(id))
  } catch {
    return undefined
  }
}

export function openContent(
  secrets: Pick<SecretBox, 'decrypt'>,
  id: ContentId,
  ciphertext: string,
): MessageContent | undefined {
  const text = decryptContent(secrets, id, ciphertext)
  // A text that can be decrypted was written by `sealContent`.
  return text === undefined ? undefined : (JSON.parse(text) as MessageContent)
}

/** Encrypts a content with the current key. Undefined if no key of this server decrypts it. */
export function renewContent(
  secrets: Pick<SecretBox, 'decrypt' | 'encrypt'>,
  id: ContentId,
  ciphertext: string,
): string | undefined {
  const text = decryptContent(secrets, id, ciphertext)
  return text === undefined ? undefined : secrets.encrypt(text, contentPurpose(id))
}
