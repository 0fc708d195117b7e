/**
 * What this process has begun with each message, kept where it survives the process. After a crash it tells which
 * recorded messages were certainly never written to WhatsApp. Every doubt counts as "unknown": a message that the
 * journal does not name may have been sent.
 */
export interface SendJournal {
  /** Call it before the insert leaves. */
  recording(messages: readonly JournalEntry[]): void
  /** Call it right before the first byte leaves for WhatsApp, no earlier. If it throws, none may leave. */
  writing(messageId: string): void
  /** The message will never be written to WhatsApp, and the database holds nothing of it that waits. */
  settled(messageId: string): void
  close(): void
}

export interface JournalEntry {
  accountId: string
  id: string
}

/** Where no journal is kept, a message that is interrupted always counts as unknown. */
export const noJournal: SendJournal = {
  recording: () => {},
  writing: () => {},
  settled: () => {},
  close: () => {},
}
