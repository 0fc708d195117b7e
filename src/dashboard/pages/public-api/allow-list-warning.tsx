import { Button, Group, Modal, Stack, Text } from '@mantine/core'

interface AllowListWarningProps {
  /** The list that would be saved; undefined when there is nothing to warn of. */
  proposed: string[] | undefined
  /** Of whoever is looking. */
  address: string
  pending: boolean
  onSave: (allowList: string[]) => void
  onClose: () => void
}

/** Before a list is saved that shuts out whoever saves it, or that lets everybody in. */
export function AllowListWarning({ proposed, address, pending, onSave, onClose }: AllowListWarningProps) {
  const opensToAll = proposed?.length === 0
  return (
    <Modal
      opened={proposed !== undefined}
      onClose={onClose}
      centered
      title={opensToAll ? 'Let every address call?' : 'Lock your own address out?'}
    >
      <Text size="sm">
        {opensToAll
          ? 'Without entries the list is off: the API answers requests from every address that have your key.'
          : `The new list does not include your own address, ${address}. Requests to the API from it will be refused as soon as the list is saved. The dashboard keeps working.`}
      </Text>
      <Stack gap="sm" mt="lg">
        {!opensToAll && proposed && (
          <Button loading={pending} onClick={() => onSave([...proposed, address])}>
            Save, and add my address
          </Button>
        )}
        <Group gap="sm" grow>
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button color="red.9" loading={pending} onClick={() => onSave(proposed ?? [])}>
            {opensToAll ? 'Let everybody call' : 'Save anyway'}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
