# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# mettle.bash: completion of the command mettle in bash. Installed as
# share/bash-completion/completions/mettle; or: source completions/mettle.bash

# Kernels of the source in the command line, as `mettle reflect` tells.
_mettle_kernels() {
  [[ -r $1 ]] && mettle reflect "$1" 2>/dev/null |
    sed -n 's/^kernel //p'
}

# Arguments of its kernels.
_mettle_arguments() {
  [[ -r $1 ]] && mettle reflect "$1" 2>/dev/null |
    awk '/^  [a-z]/ && $2 ~ /^[0-9]+$/ { print $3 }' | sort -u
}

# Words of a list with commas.
_mettle_listed() {
  COMPREPLY=($(compgen -P "${1%"${1##*,}"}" -W "$2" -- "${1##*,}"))
}

# What stands behind "=", for the word in front of it.
_mettle_assigned() {
  case $1 in
    --check)
      _mettle_listed "$2" "races bounds init sync align nan integer host \
        uniform stop all" ;;
    --dump-after)
      _mettle_listed "$2" "frontend vectorize optimise finish_module steps \
        plan asm" ;;
    --math) _mettle_listed "$2" "safe relaxed fast" ;;
    -*) ;;
    *)
      if [[ $2 == @* ]]; then
        COMPREPLY=($(compgen -P @ -f -X '!*.npy' -- "${2#@}") \
          $(compgen -P @ -f -X '!*.png' -- "${2#@}"))
      else
        COMPREPLY=($(compgen -W "zeros: ones: iota: rand: @" -- "$2"))
        compopt -o nospace
      fi ;;
  esac
}

_mettle() {
  local word=$2 before=$3 verb=${COMP_WORDS[1]}
  local verbs="run diff compile reflect corpus model iree devices bench env trace"
  local shared="-I -D --constant --math --std -fpermissive --device --debug --help --version"
  COMPREPLY=()

  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "$verbs help --help --version" -- "$word"))
    return
  fi

  # "=", and "=@" together, are words of their own to bash.
  local last=${COMP_WORDS[COMP_CWORD]} mark=${COMP_WORDS[COMP_CWORD - 1]} at=
  if [[ $last == =* ]]; then
    ((at = COMP_CWORD - 1)); last=${last#=}
  elif [[ $mark == =* ]]; then
    ((at = COMP_CWORD - 2)); last=${mark#=}$last
  fi
  if [[ -n $at && ${COMP_WORDS[at - 1]} == --save ]]; then
    _mettle_listed "$last" "${COMP_WORDS[at]}.npy ${COMP_WORDS[at]}.png"
    return
  elif [[ -n $at ]]; then
    _mettle_assigned "${COMP_WORDS[at]}" "$last"
    return
  fi

  case $before in
    --math) COMPREPLY=($(compgen -W "safe relaxed fast" -- "$word")); return ;;
    --std)
      COMPREPLY=($(compgen -W "metal2.4 metal3.0 metal3.1 metal3.2 metal4.0 \
          metal4.1" \
        -- "$word"))
      return ;;
    --device)
      COMPREPLY=($(compgen -W "$(mettle devices cpu cpu-discrete null 2>/dev/null |
        sed -n 's/^\([^ ][^ ]*\).*/\1/p')" -- "$word"))
      return ;;
    -I) COMPREPLY=($(compgen -d -- "$word")); return ;;
    --manifest | --weights | --output | -o)
      COMPREPLY=($(compgen -f -- "$word")); return ;;
    --output-dir) COMPREPLY=($(compgen -d -- "$word")); return ;;
    --input)
      COMPREPLY=($(compgen -f -X '!*.npy' -- "$word"))
      compopt -o filenames; return ;;
    --check-report | --check-suppress | --trace)
      COMPREPLY=($(compgen -f -- "$word"))
      compopt -o filenames; return ;;
    --schedule)
      COMPREPLY=($(compgen -W "forward reverse random:1 stale:1 explore:8" -- "$word"))
      return ;;
    --kernel)
      COMPREPLY=($(compgen -W "$(_mettle_kernels "${COMP_WORDS[2]}")" \
        -- "$word"))
      return ;;
    --print | --grid)
      COMPREPLY=($(compgen -W "$(_mettle_arguments "${COMP_WORDS[2]}")" \
        -- "$word"))
      return ;;
    --save)
      COMPREPLY=($(compgen -S = -W "$(_mettle_arguments "${COMP_WORDS[2]}")" \
        -- "$word"))
      compopt -o nospace; return ;;
    --tiers) COMPREPLY=($(compgen -W "0,1,C 0,1 1,C" -- "$word")); return ;;
    --devices)
      COMPREPLY=($(compgen -W "cpu,cpu-discrete" -- "$word")); return ;;
    --group | --ulps | --repeat | --function | --constant | -D | --dump-after | --without | --call-depth | \
      --timeout)
      return ;;
  esac

  if [[ $word == -* ]]; then
    case $verb in
      run) shared+=" --grid --group --save --print --repeat --json --log"
        shared+=" --call-depth --timeout --trace --unchecked"
        shared+=" --check --check-report --check-suppress --schedule" ;;
      diff) shared+=" --grid --group --call-depth --timeout --tiers --devices"
        shared+=" --ulps" ;;
      compile) shared+=" -o --dump-after --dump-plan --without --report --asm --kernel --group" ;;
      reflect) shared+=" --json --kernel" ;;
      corpus)
        shared=${shared/--constant /}
        shared+=" --manifest --pipelines --json" ;;
      model)
        shared="--input --output-dir --weights --repeat --trace --json --help"
        shared+=" --check --check-report --check-suppress --schedule"
        shared+=" --version" ;;
      iree)
        shared="--function --input --output --repeat --device --json --help"
        shared+=" --version" ;;
      trace) shared="--top --output --help --version" ;;
      *) shared="--json --help --version" ;;
    esac
    COMPREPLY=($(compgen -W "$shared" -- "$word"))
    return
  fi

  case $verb:$COMP_CWORD in
    run:2 | diff:2 | compile:2 | reflect:2)
      COMPREPLY=($(compgen -f -X '!*.metal' -- "$word") \
        $(compgen -d -S / -- "$word"))
      compopt -o nospace -o filenames ;;
    env:2)
      COMPREPLY=($(compgen -c -- "$word") $(compgen -f -- "$word")) ;;
    corpus:2) COMPREPLY=($(compgen -d -- "$word")) ;;
    model:2) COMPREPLY=($(compgen -W "run info" -- "$word")) ;;
    iree:2) COMPREPLY=($(compgen -W "run" -- "$word")) ;;
    iree:3)
      COMPREPLY=($(compgen -f -X '!*.vmfb' -- "$word") \
        $(compgen -d -S / -- "$word"))
      compopt -o nospace -o filenames ;;
    trace:2) COMPREPLY=($(compgen -W "summary view" -- "$word")) ;;
    trace:3)
      COMPREPLY=($(compgen -f -X '!*.json' -- "$word") \
        $(compgen -d -S / -- "$word"))
      compopt -o nospace -o filenames ;;
    model:3)
      COMPREPLY=($(compgen -f -X '!*.so' -- "$word") \
        $(compgen -d -S / -- "$word"))
      compopt -o nospace -o filenames ;;
    run:3 | diff:3)
      COMPREPLY=($(compgen -W "$(_mettle_kernels "${COMP_WORDS[2]}")" \
        -- "$word") $(compgen -S = -W "$(_mettle_arguments \
        "${COMP_WORDS[2]}")" -- "$word"))
      [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace ;;
    run:* | diff:*)
      COMPREPLY=($(compgen -S = -W "$(_mettle_arguments \
        "${COMP_WORDS[2]}")" -- "$word"))
      compopt -o nospace ;;
  esac
}
complete -F _mettle mettle
