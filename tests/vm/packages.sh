# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154  # $cache, $work, $arch and $kernel_package are run's
#
# Debian packages for the virtual machines; sourced by `run`.
#
# Everything lives below $cache and nothing else is touched: apt works there with a configuration, a package
# database and download folders of its own. What it makes:
#
#   suites/ARCH/WANTED              which suite and which kernel package "6.1" or "newest" is; written last
#   apt/ARCH/                       apt's lists and archives
#   recipe-N/kernels/ARCH/PACKAGE=VERSION/
#                                   image, initramfs.cpio (busybox and the modules that find the disk), modules/
#   recipe-N/roots/ARCH/SUITE-HASH/ root.ext4: the userland and the modules of that kernel
#
# A folder appears under its name complete (rename) or not at all. Whoever makes one holds prepare.lock; whoever only
# uses one needs no lock to find it, and holds in-use.lock shared, so that nobody removes what a machine runs on.

# Raise it when what is unpacked, or how, changes: images made before are not used any more.
readonly recipe=2
store=$cache/recipe-$recipe

# In every root. First what a shell script expects of a small Debian, then what our programs are linked to, then the
# tools of our trade. Not in here: what a case asks for with --package.
readonly base_packages=(
    base-files base-passwd bash coreutils dash diffutils findutils grep libc-bin mawk mount procps sed util-linux
    busybox-static dpkg kmod systemd udev
    libbpf1 libc6 libelf1 libgcc-s1 libgcrypt20 libmnl0 libstdc++6 libsystemd0 libxdp1 zlib1g
    bpftool ethtool iproute2 iputils-ping xdp-tools
)
# Asked for only where the suite has it. Without usr-is-merged apt brings usrmerge and Perl in its stead.
readonly optional_packages=(usr-is-merged)

# What systemd need not do in a machine that lives for seconds. Its generators are all off: there is no fstab to read and
# no console to log in on.
readonly masked_units=(
    dev-hugepages.mount dev-mqueue.mount first-boot-complete.target kmod-static-nodes.service ldconfig.service
    modprobe@.service proc-sys-fs-binfmt_misc.automount run-lock.mount sys-fs-fuse-connections.mount
    sys-kernel-config.mount systemd-ask-password-console.path systemd-ask-password-wall.path systemd-binfmt.service
    systemd-boot-random-seed.service systemd-creds.socket systemd-firstboot.service systemd-hostnamed.socket
    systemd-hwdb-update.service systemd-initctl.socket systemd-journal-catalog-update.service
    systemd-journal-flush.service systemd-machine-id-commit.service systemd-modules-load.service
    systemd-pcrmachine.service systemd-pcrphase-sysinit.service systemd-pcrphase.service systemd-pstore.service
    systemd-random-seed.service systemd-remount-fs.service systemd-repart.service systemd-sysctl.service
    systemd-sysext.socket systemd-sysusers.service systemd-timesyncd.service systemd-tmpfiles-clean.timer
    systemd-tmpfiles-setup-dev-early.service systemd-tmpfiles-setup-dev.service systemd-tpm2-setup-early.service
    systemd-tpm2-setup.service systemd-udev-load-credentials.service systemd-update-done.service
    systemd-update-utmp.service
)

# Needed in the initramfs, before the root file system is there. virtio_console is how the results come out.
readonly early_modules=(virtio_pci virtio_blk virtio_console ext4)

# Modules of no use to a machine with a network and without a screen: three quarters of them all. Some of them udev
# would load on every boot.
readonly unused_modules=(
    sound virt 'arch/*/kvm' fs/bcachefs fs/btrfs fs/ceph fs/ocfs2 fs/smb fs/cifs fs/xfs fs/gfs2 fs/jfs fs/nfs fs/nfsd fs/f2fs fs/reiserfs
    net/bluetooth net/ceph net/nfc net/sunrpc net/rds net/tipc
    drivers/accel drivers/ata drivers/bluetooth drivers/comedi drivers/cpufreq drivers/crypto drivers/edac drivers/firewire drivers/gpu
    drivers/hid drivers/hwmon drivers/iio drivers/infiniband drivers/input drivers/isdn drivers/leds drivers/md
    drivers/media drivers/misc drivers/mmc drivers/mtd drivers/net/wireless drivers/nfc drivers/nvme drivers/parport
    drivers/platform drivers/power drivers/scsi drivers/soundwire drivers/staging drivers/target drivers/thunderbolt
    drivers/usb drivers/video drivers/w1 drivers/watchdog
)

# The Debian mirror this machine itself uses; its security archive is the sibling of it.
mirror() {
    if [[ -n ${XDP_RESPONDER_VM_MIRROR:-} ]]; then
        echo "$XDP_RESPONDER_VM_MIRROR"
        return
    fi
    # shellcheck disable=SC2016  # $(REPO_URI) is apt's, not the shell's
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sed 's|/*$||' | grep -E '/debian$' | sort -u |
        head -n 1
}

# write_apt_configuration NAME SUITE...: apt's configuration for these suites; its path goes into $APT_CONFIG.
# APT_CONFIG is read before /etc/apt, so it can name an empty folder in /etc/apt's place.
write_apt_configuration() {
    local name=$1 home=$cache/apt/$arch address keyring=/usr/share/keyrings/debian-archive-keyring.gpg suite
    shift
    address=$(mirror)
    [[ -n $address ]] || fail_package "apt on this machine knows no Debian mirror; name one in XDP_RESPONDER_VM_MIRROR"
    [[ -r $keyring ]] || fail_package "$keyring is missing; try: apt-get install debian-archive-keyring"
    mkdir -p "$home"/{empty/partial,lists/partial,archives/partial}
    : >"$home/status"
    for suite; do
        case $suite in
        *-security) echo "deb [signed-by=$keyring] $address-security $suite main" ;;
        *) echo "deb [signed-by=$keyring] $address $suite main" ;;
        esac
    done >"$home/$name.list"
    {
        # Proxies and the like are the machine's own; extra indexes (icons, translations) are of no use here.
        env -u APT_CONFIG apt-config dump | grep '^Acquire::' | grep -vE '^Acquire::(IndexTargets|Languages)'
        cat <<CONFIGURATION
Dir "/";
Dir::Etc "$home/empty";
Dir::Etc::sourcelist "$home/$name.list";
Dir::Etc::sourceparts "$home/empty";
Dir::Etc::parts "$home/empty";
Dir::Etc::preferencesparts "$home/empty";
Dir::Etc::trusted "$home/empty/none";
Dir::Etc::trustedparts "$home/empty";
Dir::State "$home";
Dir::State::lists "$home/lists";
Dir::State::status "$home/status";
Dir::Cache "$home";
Dir::Cache::archives "$home/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Get::List-Cleanup "false";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
CONFIGURATION
    } >"$home/$name.conf"
    export APT_CONFIG=$home/$name.conf
}

# suite_exists SUITE: whether the mirror carries it. apt-helper goes through apt's own proxies. Leaves its Release file
# behind for codename.
suite_exists() {
    local address
    address=$(mirror)
    [[ $1 == *-security ]] && address+=-security
    /usr/lib/apt/apt-helper -q download-file "$address/dists/$1/InRelease" "$cache/apt/$arch/Release" >/dev/null 2>&1
}

# codename ALIAS: trixie for stable, in the year this was written.
codename() {
    suite_exists "$1" && sed -n 's/^Codename: //p' "$cache/apt/$arch/Release"
}

# The suites that SUITE stands on, itself last.
suites_below() {
    local base=${1%-backports}
    [[ $1 == experimental ]] && base=sid
    echo "$base"
    if suite_exists "$base-security"; then
        echo "$base-security"
    fi
    if [[ $1 != "$base" ]]; then
        echo "$1"
    fi
}

# Any list that cannot be had is an error: an incomplete answer would choose the wrong kernel.
apt_update() {
    say "reading the package lists of $* ($arch)"
    apt-get -q -o APT::Update::Error-Mode=any -o Acquire::Retries=3 update >"$work/apt.log" 2>&1
}

apt_reason() { sed -n 's/^E: //p' "$work/apt.log" | head -n 3 | paste -sd' '; }

# The highest kernel that the current lists offer: "VERSION SUITE", or nothing.
highest_kernel() {
    local line version suite best='' best_suite=''
    while IFS='|' read -r _ version line; do
        version=${version//" "/}
        # the third column: mirror, suite/component, architecture, "Packages"
        read -r _ suite _ <<<"$line"
        if [[ -z $best ]] || dpkg --compare-versions "$version" gt "$best"; then
            best=$version best_suite=${suite%%/*}
        fi
    done < <(apt-cache madison "$kernel_package")
    [[ -z $best ]] || echo "$best $best_suite"
}

# use_suite SUITE: from here on apt speaks of SUITE and what it stands on.
use_suite() {
    local below
    mapfile -t below < <(suites_below "$1")
    write_apt_configuration "$1" "${below[@]}"
    if [[ ! -e $cache/apt/$arch/$1.read ]]; then
        if ! apt_update "${below[@]}"; then
            say "$(apt_reason)"
            # The security archive is a server of its own, and not in step with the other at every moment.
            mapfile -t below < <(printf '%s\n' "${below[@]}" | grep -v -e '-security$')
            write_apt_configuration "$1" "${below[@]}"
            apt_update "${below[@]}" ||
                fail_package "the package lists of $1 ($arch) are not to be had: $(apt_reason)"
        fi
        touch "$cache/apt/$arch/$1.read"
    fi
}

# resolve WANTED: fills $suite, $kernel ("PACKAGE=VERSION") and $kernel_folder from suites/ARCH/WANTED. Where that is
# missing, or a second argument says "again", it is made by asking the mirror; an answer that fails changes nothing.
resolve() {
    local file=$cache/suites/$arch/$1 version stable candidate candidates=() package
    if [[ ! -e $file || ${2:-} == again ]]; then
        mkdir -p "${file%/*}" "$cache/apt/$arch"
        case $1 in
        6.1) suite=bookworm ;;
        newest)
            # By way of the aliases, so that tomorrow's releases are found without a change here.
            stable=$(codename stable) || fail_package "Debian's stable suite is not to be had; is there a network?"
            for candidate in "$stable" "$stable-backports" testing sid experimental; do
                if suite_exists "$candidate"; then
                    candidates+=("$candidate")
                fi
            done
            write_apt_configuration newest "${candidates[@]}"
            apt_update "${candidates[@]}" ||
                fail_package "the package lists of all suites ($arch) are not to be had: $(apt_reason)"
            read -r _ suite < <(highest_kernel) || fail_package "no suite has a $kernel_package"
            ;;
        *)
            suite=$1
            suite_exists "$suite" || fail_package "Debian's mirror carries no suite $suite (or there is no network)"
            ;;
        esac
        if [[ ${2:-} == again ]]; then
            rm -f "$cache/apt/$arch/$suite.read"
        fi
        use_suite "$suite"
        read -r version _ < <(highest_kernel) || fail_package "$suite has no $kernel_package"
        # The meta package only points at the real one.
        package=$(apt-cache show "$kernel_package=$version" | sed -n 's/^Depends:.*\(linux-image-[0-9][^ ,]*\).*/\1/p')
        [[ -n $package ]] || fail_package "$kernel_package $version names no kernel"
        echo "$suite $package=$version" >"$file.new"
        mv "$file.new" "$file"
    fi
    read -r suite kernel <"$file"
    kernel_folder=$store/kernels/$arch/$kernel
}

# remove_old: the roots of $suite, which are to be made anew, and whatever no answer of resolve() names any more.
remove_old() {
    local folder name named
    named=$(cat "$cache/suites/$arch"/*)
    for folder in "$cache"/recipe-*/; do
        [[ $folder == "$store/" ]] || rm -rf "$folder"
    done
    for folder in "$store/roots/$arch"/*/; do
        name=$(basename "$folder")
        name=${name%-*}
        if [[ $name == "$suite" ]] || ! grep -q "^$name " <<<"$named"; then
            rm -rf "$folder"
        fi
    done
    for folder in "$store/kernels/$arch"/*/; do
        grep -qF " $(basename "$folder")" <<<"$named" || rm -rf "$folder"
    done
}

# fetch VERB PACKAGE[=VERSION]...: fills $debs with the downloaded files. VERB is apt-get's: "install" brings what the
# packages depend on, "download" does not.
fetch() {
    local verb=$1 archives=$cache/apt/$arch/archives attempt
    shift
    for attempt in 1 2; do
        # Asked as if nothing had been fetched yet, because what has been is not listed.
        if ! apt-get -q -y -o Dir::Cache::archives="$cache/apt/$arch/empty" --print-uris "$verb" "$@" \
            >"$work/uris" 2>"$work/apt.log"; then
            fail_package "not to be had in $suite ($arch): $(apt_reason)"
        fi
        # a line: 'ADDRESS' FILE SIZE HASH
        mapfile -t debs < <(sed -n "s|^'[^']*' \([^ ]*\) .*|$archives/\1|p" "$work/uris")
        if (cd "$archives" && if [[ $verb == install ]]; then
            apt-get -q -y --download-only install "$@"
        else
            apt-get -q download "$@"
        fi) >"$work/apt.log" 2>&1; then
            return
        fi
        # The lists are older than the mirror's files.
        ((attempt == 2)) || apt_update "$suite" || true
    done
    fail_package "downloading from $suite ($arch) failed: $(apt_reason)"
}

# kernel_parts: the packages that make up $kernel. Up to 6.18 Debian had one; since then image, binary, modules and base.
kernel_parts() {
    echo "$kernel"
    apt-cache show "$kernel" | sed -n 's/^Depends: //p' | tr ',' '\n' |
        sed -nE 's/^ *(linux-(base|binary|modules)-[0-9][^ ]*) \(= ([^)]*)\).*/\1=\3/p'
}

# decompress FILE: a kernel's payload, or nothing. FILE may begin with anything; the payload begins where its magic is.
# Whatever follows the payload makes the unpacker complain after it has done its work, so only the result is judged.
decompress() {
    local magic tool offset
    while read -r magic tool; do
        # shellcheck disable=SC2013  # numbers, no spaces in them
        for offset in $(LC_ALL=C grep -aobP "$magic" "$1" | cut -d: -f1); do
            tail -c "+$((offset + 1))" "$1" | $tool >"$1.payload" 2>/dev/null || true
            if [[ -s $1.payload ]] && "$2" "$1.payload"; then
                mv "$1.payload" "$1"
                return
            fi
        done
    done <<'MAGIC'
\xFD7zXZ\x00 xz -dc --single-stream
\x28\xB5\x2F\xFD zstd -dc
\x1F\x8B\x08 gzip -dc
MAGIC
    rm -f "$1.payload"
}

is_elf() { [[ $(head -c 4 "$1" | tail -c 3) == ELF ]]; }
is_arm64_image() { [[ $(head -c 60 "$1" | tail -c 4 | tr -d '\0') == ARMd || $(tail -c +57 "$1" | head -c 3) == ARM ]]; }

# prepare_kernel: $kernel_folder, from the packages.
prepare_kernel() {
    local parts release new=$work/kernel package excludes=() name initramfs
    [[ -e $kernel_folder ]] && return
    use_suite "$suite"
    mapfile -t parts < <(kernel_parts)
    say "fetching the kernel: ${parts[*]%%=*}"
    fetch download "${parts[@]}"
    mkdir -p "$new/modules/usr/lib"
    ln -s usr/lib "$new/modules/lib"
    for name in "${unused_modules[@]}"; do
        excludes+=("--exclude=*/kernel/$name")
    done
    for package in "${debs[@]}"; do
        dpkg-deb --fsys-tarfile "$package" |
            tar -x -C "$new/modules" --keep-directory-symlink --exclude='./usr/share' "${excludes[@]}"
        # 100 MB that nobody reads a second time
        rm "$package"
    done
    release=$(cd "$new/modules/usr/lib/modules" && echo *)
    echo "$release" >"$new/release"
    mv "$(find "$new/modules" -name "vmlinu[xz]*" | head -n 1)" "$new/image"
    # The decompressor takes five seconds under TCG and half a second here. What comes out is an ELF file with the entry
    # for Xen's PVH, which QEMU can start as well.
    case $arch in
    amd64 | i386) decompress "$new/image" is_elf ;;
    arm64) is_arm64_image "$new/image" || decompress "$new/image" is_arm64_image ;;
    esac
    rm -rf "$new/modules/boot"
    find "$new/modules" -name '*.ko.xz' -exec xz -d {} +
    find "$new/modules" -name '*.ko.zst' -exec zstd -q -d --rm {} +
    depmod -b "$new/modules" "$release"

    fetch download busybox-static
    initramfs=$new/initramfs
    mkdir -p "$initramfs"/{bin,modules,dev,proc,sys,root}
    dpkg-deb --fsys-tarfile "${debs[0]}" |
        tar -x -C "$initramfs/bin" --wildcards '*bin/busybox' --transform 's|.*/||'
    local number=100 line
    for name in "${early_modules[@]}"; do
        modprobe --dirname "$new/modules" --set-version "$release" --show-depends "$name"
    done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r line; do
        cp "$line" "$initramfs/modules/$((number++))-${line##*/}"
    done
    (cd "$initramfs" && find . | cpio -o -H newc --owner 0:0 --quiet) >"$new/initramfs.cpio"
    rm -rf "$initramfs"
    mkdir -p "${kernel_folder%/*}"
    mv "$new" "$kernel_folder"
}

# name_root PACKAGE...: sets $root_folder for $suite, $kernel and the packages asked for. Needs no network.
name_root() {
    local hash
    hash=$(printf '%s\n' "$arch" "$suite" "$kernel" "${base_packages[@]}" "$@" | LC_ALL=C sort -u | sha256sum)
    root_folder=$store/roots/$arch/$suite-${hash:0:12}
}

# prepare_root PACKAGE...: $root_folder, from the base packages and these.
prepare_root() {
    local new=$work/root root package name names=("${base_packages[@]}" "$@")
    [[ -e $root_folder ]] && return
    use_suite "$suite"
    for package in "${optional_packages[@]}"; do
        if apt-cache show "$package" >/dev/null 2>&1; then
            names+=("$package")
        fi
    done
    say "fetching the userland: ${#base_packages[@]} packages, ${*:-nothing more}, and what they need"
    fetch install "${names[@]}"
    root=$new/root
    # One /usr: the links come first and tar follows them, so that a library has one place whatever its package says.
    mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{dev,etc,proc,run,sys,tmp,root,vm}
    for name in bin sbin lib lib64; do
        ln -s "usr/$name" "$root/$name"
    done
    mkdir -p "$root/var/lib/dpkg/info"
    for package in "${debs[@]}"; do
        name=$(dpkg-deb -f "$package" Package)
        # tar's list of what it unpacks is what dpkg in the machine takes for the package's files.
        dpkg-deb --fsys-tarfile "$package" | tar -xv -C "$root" --keep-directory-symlink --numeric-owner \
            --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' \
            --exclude='./usr/share/info/*' --exclude='./usr/lib/udev/hwdb.d/*' |
            sed -e 's|^\./$|/.|' -e 's|^\./|/|' -e 's|\(.\)/$|\1|' >"$root/var/lib/dpkg/info/$name.list"
        dpkg-deb -f "$package"
        printf 'Status: install ok installed\n\n'
    done >"$new/status"
    mv "$new/status" "$root/var/lib/dpkg/status"
    without_maintainer_scripts "$root"
    # Hard links: the modules stay one copy.
    cp -al "$kernel_folder/modules/usr/lib/modules" "$root/usr/lib/"
    # Sparse, no journal (the machine's writes are thrown away), half a gigabyte free.
    mke2fs -q -t ext4 -O ^has_journal -m 0 -d "$root" "$new/root.ext4" "$(($(du -sm "$root" | cut -f1) * 5 / 4 + 512))M" \
        >/dev/null
    rm -rf "$root"
    mkdir -p "${root_folder%/*}"
    mv "$new" "$root_folder"
}

# What the packages' own scripts would have done, as far as anybody here needs it.
without_maintainer_scripts() {
    local root=$1 name
    cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
    cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
    sed -i 's|^root:[^:]*:|root::|' "$root/etc/passwd"
    printf 'passwd: files systemd\ngroup: files systemd\nhosts: files dns\n' >"$root/etc/nsswitch.conf"
    echo vm >"$root/etc/hostname"
    printf '127.0.0.1 localhost vm\n::1 localhost\n' >"$root/etc/hosts"
    echo 0123456789abcdef0123456789abcdef >"$root/etc/machine-id"
    ln -sf mawk "$root/usr/bin/awk"
    mkdir -p "$root"/etc/systemd/{system,system-generators}
    for name in "${masked_units[@]}"; do
        ln -sf /dev/null "$root/etc/systemd/system/$name"
    done
    for name in "$root"/usr/lib/systemd/system-generators/*; do
        ln -sf /dev/null "$root/etc/systemd/system-generators/${name##*/}"
    done
    [[ -e $root/usr/bin/sh ]] || ln -s dash "$root/usr/bin/sh"
}
