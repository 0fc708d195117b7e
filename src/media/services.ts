import type { MediaConfig, WebhookConfig } from '../platform/config.ts'
import type { ProxySettings } from '../platform/proxy.ts'
import { createDownloader, type Downloader } from './download.ts'
import type { SpoolLimits } from './spool.ts'
import { createFolderStore } from './store/folder-store.ts'
import type { ObjectStore } from './store/object-store.ts'
import { createS3Store } from './store/s3-store.ts'
import { createUploadSlots, type UploadSlots } from './upload-slots.ts'

interface SendLimits {
  /** How long a send waits until WhatsApp has its files. */
  sendWaitMilliseconds?: number
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

/** Links are downloaded under the rules of webhooks: `allowPrivate` is for development. */
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
