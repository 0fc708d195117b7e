const purposeStart = 'content of '

/** Returns whether a secret is a message content. Contents are read once and should not stay in memory. */
export function isContentPurpose(purpose: string): boolean {
  return purpose.startsWith(purposeStart)
}

/** Identifies the message of a content. It is authenticated by the encryption, so that contents cannot be swapped. */
export interface ContentId {
  accountId: string
  messageId: string
}

export function contentPurpose({ accountId, messageId }: ContentId): string {
  return `${purposeStart}${accountId} ${messageId}`
}
