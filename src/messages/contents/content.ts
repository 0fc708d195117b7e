import type { SendMessageRequest } from '../../../contracts/api/message.ts'
import type { MessageContent, StoredValues } from '../../../contracts/dashboard/message.ts'
import type { SecretBox } from '../../platform/secrets.ts'
import { listParts } from '../../templates/fill/parts.ts'
import type { FilledTemplate } from '../../templates/fill/values.ts'
import type { TemplateText } from '../../templates/placeholders.ts'
import { renderMessage } from '../../templates/preview.ts'
import { type ContentPlace, contentPurpose } from './purpose.ts'

/**
 * What a message says. The text is kept as it was filled in, because the template can change after the send, and the
 * values as they were requested, so that the request can be repeated.
 */
export function describeContent(
  template: TemplateText,
  filled: FilledTemplate,
  request: SendMessageRequest,
): MessageContent {
  const { buttons: _labels, ...shown } = renderMessage(template, filled)
  const offer = listParts(template).offer?.text
  return { values: valuesOf(request), shown: { ...shown, ...(offer !== undefined && { offer }) } }
}

/** Messages with a code are not stored, so it is not among the values. */
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

export function sealContent(secrets: Pick<SecretBox, 'encrypt'>, place: ContentPlace, content: MessageContent): string {
  return secrets.encrypt(JSON.stringify(content), contentPurpose(place))
}

/** The stored text, for a search or another key. Undefined if no key of this server decrypts it. */
export function decryptContent(
  secrets: Pick<SecretBox, 'decrypt'>,
  place: ContentPlace,
  ciphertext: string,
): string | undefined {
  try {
    return secrets.decrypt(ciphertext, contentPurpose(place))
  } catch {
    return undefined
  }
}

export function openContent(
  secrets: Pick<SecretBox, 'decrypt'>,
  place: ContentPlace,
  ciphertext: string,
): MessageContent | undefined {
  const text = decryptContent(secrets, place, ciphertext)
  // Only `sealContent` wrote what a key decrypts.
  return text === undefined ? undefined : (JSON.parse(text) as MessageContent)
}

/** Encrypts a content with the current key. Undefined if no key of this server decrypts it. */
export function renewContent(
  secrets: Pick<SecretBox, 'decrypt' | 'encrypt'>,
  place: ContentPlace,
  ciphertext: string,
): string | undefined {
  const text = decryptContent(secrets, place, ciphertext)
  return text === undefined ? undefined : secrets.encrypt(text, contentPurpose(place))
}
