/** Downloads files from addresses that callers name. */
export interface LinkReader {
  /**
   * Writes the file to `path`. Throws a SERVICE_UNAVAILABLE if too many downloads are running; every other failure is a
   * result with a reason for the caller.
   */
  download(url: string, path: string, options: { accountId: string; maxBytes: number }): Promise<DownloadResult>
  close(): Promise<void>
}

export type DownloadResult = { ok: true; sizeBytes: number } | { ok: false; problem: string }
