import { t } from '@lingui/core/macro'
import { CloseButton, FileButton, Group, Input, Paper, Stack, Text, TextInput } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { maxMediaBytes, type MediaKind, mediaKinds } from '../../../../contracts/api/media.ts'
import { testMediaPath, type uploadTestMedia } from '../../../../contracts/dashboard/template.ts'
import type { OutputOf } from '../../../../contracts/procedure.ts'
import { readFailure } from '../../api/failure.ts'
import { uploadFile } from '../../api/upload-file.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { formatSize } from './message-preview.tsx'
import { ChangeButton } from '../../ui/button.tsx'

const accepted: Record<MediaKind, string | undefined> = {
  image: 'image/jpeg,image/png',
  video: 'video/mp4,video/3gpp',
  document: undefined,
}

/** The kind of file that the value at this path links, such as `image` for `header.image.link`; undefined for other values. */
export function mediaKindOf(path: string): MediaKind | undefined {
  const [kind, field] = path.split('.').slice(-2)
  return field === 'link' ? mediaKinds.find((known) => known === kind) : undefined
}

interface MediaFieldProps {
  label: string
  kind: MediaKind
  whatsAppAccountId: string | undefined
  /** Whether a file replaces the link. */
  isUploaded: boolean
  /** Gets the ID of a new file, or undefined once it is removed. */
  onChange: (mediaId: string | undefined) => void
  /** The input props of the link from the Mantine form. */
  field: object
}

/** The file of a media header: a link, or a file from this device. */
export function MediaField({ label, kind, whatsAppAccountId, isUploaded, onChange, field }: MediaFieldProps) {
  const { accountId } = useAccount()
  const [file, setFile] = useState<File>()
  const [problem, setProblem] = useState<string>()
  const reset = useRef<() => void>(null)
  const upload = useChange({
    change: (chosen: File) =>
      uploadFile<OutputOf<typeof uploadTestMedia>>({
        path: testMediaPath,
        query: { accountId, ...(whatsAppAccountId !== undefined && { whatsAppAccountId }) },
        file: chosen,
      }),
    invalidates: [],
    onDone: ({ mediaId }, chosen) => {
      setFile(chosen)
      setProblem(undefined)
      onChange(mediaId)
    },
    onFailure: (error) => setProblem(readFailure(error).message),
  })
  const choose = (chosen: File | null) => {
    // Otherwise, the browser fires no change event if the same file is chosen again.
    reset.current?.()
    if (chosen === null) return
    const reason = findProblem(chosen, kind)
    setProblem(reason)
    if (reason === undefined) upload.mutate(chosen)
  }
  return (
    <Stack gap="xs">
      {isUploaded ? (
        <Input.Wrapper label={label} labelElement="div">
          <Paper withBorder px="sm" py={6} role="status">
            <Group justify="space-between" wrap="nowrap" gap="xs">
              <Text size="sm" truncate>
                {file?.name ?? t`Uploaded file`}
              </Text>
              <CloseButton aria-label={t`Remove file`} onClick={() => onChange(undefined)} />
            </Group>
          </Paper>
        </Input.Wrapper>
      ) : (
        <TextInput label={label} autoComplete="off" type="url" {...field} />
      )}
      <FileButton {...(accepted[kind] && { accept: accepted[kind] })} resetRef={reset} onChange={choose}>
        {({ onClick }) => (
          <ChangeButton
            variant="default"
            size="xs"
            w="fit-content"
            icon={IconUpload}
            loading={upload.isPending}
            onClick={onClick}
          >
            {isUploaded ? t`Choose another file` : t`Upload a file instead`}
          </ChangeButton>
        )}
      </FileButton>
      {problem !== undefined && <Input.Error role="alert">{problem}</Input.Error>}
    </Stack>
  )
}

/** Checks a file before the upload. The server also checks the content. */
function findProblem({ size }: File, kind: MediaKind): string | undefined {
  if (size === 0) return t`This file is empty. Choose another one.`
  const max = maxMediaBytes[kind]
  return size > max ? t`This file has ${formatSize(size)}. Choose one of at most ${formatSize(max)}.` : undefined
}
