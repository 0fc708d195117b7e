/**
 * Records how far this process got with each message, so that it survives the process. After a crash, it shows which
 * recorded messages were certainly never written to WhatsApp. A message that it does not list may have been sent.
 */
export interface SendJournal {
  /** Call this before the insert is issued. */
  recording(messages: readonly SendJournalEntry[]): void
  /** Call this immediately before the first byte is written to WhatsApp. If it throws, nothing may be written. */
  writing(messageId: string): void
  /** Call this when the message will never be written to WhatsApp and has no pending row. */
  settled(messageId: string): void
  close(): void
}

export interface SendJournalEntry {
  accountId: string
  id: string
}

/** Without a journal, the outcome of an interrupted send is always unknown. */
export const noSendJournal: SendJournal = {
  recording: () => {},
  writing: () => {},
  settled: () => {},
  close: () => {},
}
