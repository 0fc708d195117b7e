import { t } from '@lingui/core/macro'
import { CloseButton, FileButton, Group, Input, Paper, Stack, Text, TextInput } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { useState } from 'react'
import { maxMediaBytes, type MediaKind, mediaKinds } from '../../../../contracts/api/media.ts'
import { testMediaPath, type uploadTestMedia } from '../../../../contracts/dashboard/template.ts'
import type { OutputOf } from '../../../../contracts/procedure.ts'
import { uploadFile, useUpload } from '../../api/use-upload.ts'
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
  const { input, sending, problem } = useUpload({
    send: (chosen, transfer) =>
      uploadFile<OutputOf<typeof uploadTestMedia>>({
        path: testMediaPath,
        query: { accountId, ...(whatsAppAccountId !== undefined && { whatsAppAccountId }) },
        file: chosen,
        ...transfer,
      }),
    findProblem: (chosen) => findProblem(chosen, kind),
    onDone: ({ mediaId }, chosen) => {
      setFile(chosen)
      onChange(mediaId)
    },
  })
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
      <FileButton {...(accepted[kind] && { accept: accepted[kind] })} {...input}>
        {({ onClick }) => (
          <ChangeButton
            variant="default"
            size="xs"
            w="fit-content"
            icon={IconUpload}
            loading={sending !== undefined}
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

function findProblem({ size }: File, kind: MediaKind): string | undefined {
  if (size === 0) return t`This file is empty. Choose another one.`
  const max = maxMediaBytes[kind]
  return size > max ? t`This file has ${formatSize(size)}. Choose one of at most ${formatSize(max)}.` : undefined
}
