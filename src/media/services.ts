import { ServiceError } from '../../contracts/errors.ts'
import type { MediaConfig, WebhookConfig } from '../platform/config.ts'
import type { ProxySettings } from '../platform/proxy.ts'
import { createDownloader, type Downloader } from './download.ts'
import type { SpoolLimits } from './spool.ts'
import { createFolderStore, createS3Store, type ObjectStore } from './object-store.ts'

interface SendLimits {
  /** How long a send waits until WhatsApp has its files. */
  sendWaitMilliseconds?: number
  /** How long a process that uploads a file to WhatsApp keeps others from doing the same, unless it renews its claim. */
  claimMilliseconds?: number
}

/** Services that the uploads of a process share. */
export interface MediaServices {
  store: ObjectStore
  downloader: Downloader
  slots: UploadSlots
  /** Uploads to WhatsApp that are in progress, by account, number and content. */
  running: Map<string, Promise<string>>
  limits: Pick<MediaConfig, 'quotaBytes' | 'expirySeconds'> & SpoolLimits & SendLimits
  close(): Promise<void>
}

/** Links are downloaded under the rules of webhooks, without their private hosts: `allowPrivate` is for development. */
export function createMediaServices(
  config: MediaConfig,
  { allowPrivate }: Pick<WebhookConfig, 'allowPrivate'>,
  proxies?: ProxySettings,
): MediaServices {
  const store = config.store.kind === 's3' ? createS3Store(config.store, proxies) : createFolderStore(config.store.path)
  const downloader = createDownloader({ allowPrivate, proxies })
  return {
    store,
    downloader,
    slots: createUploadSlots(config.maxUploads),
    running: new Map(),
    limits: config,
    close: async () => {
      await downloader.close()
      await store.close()
    },
  }
}

interface UploadSlots {
  /** Runs an upload while it holds a slot. Rejects without running it if none is free. */
  run<Result>(accountId: string, upload: () => Promise<Result>): Promise<Result>
}

/** Each upload in progress holds some buffers and a file handle. */
const maxInProcess = 256
const retryAfterSeconds = 5

/** Limits the concurrent uploads of each account, and of all accounts together, to this process. */
function createUploadSlots(maxPerAccount: number): UploadSlots {
  const uploads = new Map<string, number>()
  let total = 0
  return {
    run: async (accountId, upload) => {
      const held = uploads.get(accountId) ?? 0
      if (held >= maxPerAccount)
        throw new ServiceError(
          'RATE_LIMIT_EXCEEDED',
          `This account already has ${held} ${held === 1 ? 'upload' : 'uploads'} in progress, which is the limit. Try again in ${retryAfterSeconds} seconds.`,
          { retryAfterSeconds },
        )
      if (total >= maxInProcess)
        throw new ServiceError('SERVICE_UNAVAILABLE', 'Too many uploads are in progress. Try again in a moment.', {
          retryAfterSeconds,
        })
      uploads.set(accountId, held + 1)
      total += 1
      try {
        return await upload()
      } finally {
        const left = (uploads.get(accountId) ?? 1) - 1
        if (left === 0) uploads.delete(accountId)
        else uploads.set(accountId, left)
        total -= 1
      }
    },
  }
}
