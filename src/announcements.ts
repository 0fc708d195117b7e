/** What processes tell each other: that there is something new to look at, never what. */
export type Topic = 'deliveries'

/**
 * A hint that saves waiting for the next look. Hints get lost (a connection breaks, a process dies), so
 * whoever listens also looks by itself from time to time.
 */
export interface Announcements {
  /** Call it after the commit: what is announced must be there to be found. Never fails, never waits. */
  announce(topic: Topic): void
  /** Returns how to stop listening. A listener is also told after a time in which it could have missed something. */
  listen(topic: Topic, listener: () => void): () => void
  close(): Promise<void>
}
