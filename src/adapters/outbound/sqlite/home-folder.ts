import { mkdirSync, statfsSync, statSync } from 'node:fs';
import { StoreOpenError } from './store-open-error.ts';

/**
 * Makes sure that the home folder is there, belongs to this user and lies on a file system whose locks and syncs can
 * be trusted. A folder that is created is for its owner only; one that exists keeps its mode, since every file in it
 * has its own.
 */
export function prepareHomeFolder(home: string, options: { readonly allowUnsafeFilesystem: boolean }): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    requireOwner(home);
    const unsafe = options.allowUnsafeFilesystem ? null : unsafeFilesystemName(statfsSync(home).type);
    if (unsafe !== null) throw unsafeFilesystem(home, unsafe);
  } catch (error) {
    if (error instanceof StoreOpenError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreOpenError(
      'unwritable',
      `The home folder ${home} can't be used: ${reason}. Choose another with --home.`,
      {
        cause: error,
      },
    );
  }
}

/** File systems of Linux that other machines write too, or whose locks and syncs depend on another program. */
const unsafeFilesystems: ReadonlyMap<number, string> = new Map([
  // Numbers from linux/magic.h and statfs(2); virtiofs and the FUSE mounts of virtual machines report FUSE.
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x786f4256, 'VirtualBox shared folder'],
  [0xbacbacbc, 'VMware shared folder'],
]);

/** The name of an unsafe file system, or null. Other platforms number theirs differently and are not judged. */
export function unsafeFilesystemName(type: number, platform: NodeJS.Platform = process.platform): string | null {
  return platform === 'linux' ? (unsafeFilesystems.get(type >>> 0) ?? null) : null;
}

function unsafeFilesystem(home: string, name: string): StoreOpenError {
  return new StoreOpenError(
    'unsafe_filesystem',
    `The home folder ${home} is on ${name}, where a database can be damaged: locks and syncs don't reach the disk ` +
      'reliably. Move it to a local disk, or accept the risk with storage.allow_unsafe_filesystem.',
  );
}

function requireOwner(home: string): void {
  const uid = process.getuid?.();
  if (uid === undefined || uid === 0) return; // Windows has no such owners, and root may use every folder
  const owner = statSync(home).uid;
  if (owner !== uid) {
    throw new StoreOpenError(
      'wrong_owner',
      `The home folder ${home} belongs to user ${String(owner)}, and this process runs as user ${String(uid)}. ` +
        'Run it as that user, or choose another folder with --home.',
    );
  }
}
