/** Downloads files from addresses that callers name. */
export interface LinkReader {
  /** Writes the file to `path`. Never rejects: every failure is a result with a reason for the caller. */
  download(url: string, path: string, limits: { maxBytes: number }): Promise<DownloadResult>
  close(): Promise<void>
}

export type DownloadResult = { ok: true; sizeBytes: number } | { ok: false; problem: string }
