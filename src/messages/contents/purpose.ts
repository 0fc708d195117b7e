const purposeStart = 'content of '

/** Returns whether a secret is a message content. Contents are read once and should not stay in memory. */
export function isContentPurpose(purpose: string): boolean {
  return purpose.startsWith(purposeStart)
}

/** The message of a content, which cannot be decrypted as that of another message. */
export interface ContentId {
  accountId: string
  messageId: string
}

export function contentPurpose({ accountId, messageId }: ContentId): string {
  return `${purposeStart}${accountId} ${messageId}`
}
