const purposeStart = 'content of '

/** Whether a secret is the content of a message, which is read once and should not stay in memory. */
export function isContentPurpose(purpose: string): boolean {
  return purpose.startsWith(purposeStart)
}

/** Where a content belongs; it cannot be decrypted as that of another message. */
export interface ContentPlace {
  accountId: string
  messageId: string
}

export function contentPurpose({ accountId, messageId }: ContentPlace): string {
  return `${purposeStart}${accountId} ${messageId}`
}
