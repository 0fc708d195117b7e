import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'vitest'
import { createTestMedia } from '../support/media.ts'
import { jpeg, postForm } from '../support/media-files.ts'
import { startTestServer, type TestAccount } from '../support/server.ts'

/** A server that stores uploaded files, with an account. */
export async function startMediaServer() {
  const media = createTestMedia({ quotaBytes: 40 * 1024 * 1024 })
  const server = await startTestServer({ deps: { media } })
  const account = await server.account()

  function upload(content: Buffer | string, filename = 'file', by = account) {
    return postForm({ url: server.url, apiKey: by.apiKey }, [{ name: 'file', content, filename }])
  }

  /** Names of the files in the spool folder and in the store. */
  async function listFiles(): Promise<string[]> {
    const entries = await readdir(media.folder, { recursive: true, withFileTypes: true }).catch(() => [])
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  }

  return {
    media,
    server,
    account,
    upload,
    uploadImage: async (by = account, content = jpeg()): Promise<string> => {
      const response = await upload(content, 'photo.jpg', by)
      expect(response.text).toContain('"success":true')
      return String(response.json().data['mediaId'])
    },
    uploadsOf: ({ phoneNumberId }: Pick<TestAccount, 'phoneNumberId'>) =>
      [...server.simulator.media.values()].filter((file) => file.phoneNumberId === phoneNumberId),
    listFiles,
    /** Waits until the files of earlier tests are removed, which happens after the error response. */
    listKeptFiles: async (): Promise<string[]> => {
      await expect.poll(() => readdir(path.join(media.folder, 'spool')).catch(() => [])).toEqual([])
      return listFiles()
    },
    close: () => server.close(),
  }
}
