// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles that threads load one by one, from places that are found in parts
// before two loops with barriers.
// run: multiply --grid 128 --group 128 0=iota:u32:960 1=zeros:f32:512 2=i32:2 3=i32:20
// expect: 1: 716 693 824 779 827 718 807 676 806 743 801 716 818 801 828 789 866 799 842 797 842 810 932 801 851 744 835 750 772 711 771 732 786 815 811 818 787 741 827 759 766 634 799 766 822 736 870 762 770 755 784 791 801 832 830 762 887 832 909 876 852 722 889 781 787 741 827 759 766 634 799 766 822 736 870 762 845 805 787 725 801 832 830 762 887 832 909 876 852 722 889 781 784 700 836 774 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 796 729 684 716 879 847 881 827 918 811 935 806 869 808 901 818 693 824 779 866 718 807 676 842 743 801 716 851 801 828 789 772 776 761 823 786 716 747 778 787 909 854 843 766 904 774 853 822 815 811 818 770 741 827 759 801 634 799 766 887 736 870 762 852 716 747 778 787 909 854 843 766 904 774 853 822 866 782 951 845 741 827 759 801 634 799 766 887 736 870 762 852 805 787 725 784 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 845 805 787 725 835 841 792 776 792 723 764 794 716 693 824 779 784 700 836 774 804 766 750 734 791 799 752 782 866 799 842 797 827 718 807 676 806 743 801 716 818 801 828 789 786 815 811 818 842 810 932 801 851 744 835 750 772 711 771 732 770 755 784 791 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 866 782 951 845 795 757 895 835 812 820 806 792 796 729 684 716 805 787 725 784 841 792 776 804 723 764 794 791 693 824 779 866 879 847 881 827 918 811 935 806 869 808 901 818 776 761 823 786 718 807 676 842 743 801 716 851 801 828 789 772 815 811 818 770 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: multiply --grid 128 --group 128 0=iota:u32:960 1=zeros:f32:512 2=i32:2 3=i32:32
// expect: 1: 716 693 824 779 827 718 807 676 806 743 801 716 818 801 828 789 866 799 842 797 842 810 932 801 851 744 835 750 772 711 771 732 786 815 811 818 787 741 827 759 766 634 799 766 822 736 870 762 770 755 784 791 801 832 830 762 887 832 909 876 852 722 889 781 787 741 827 759 766 634 799 766 822 736 870 762 845 805 787 725 801 832 830 762 887 832 909 876 852 722 889 781 784 700 836 774 835 841 792 776 792 723 764 794 716 693 824 779 827 718 807 676 804 766 750 734 791 799 752 782 866 799 842 797 842 810 932 801 796 729 684 716 879 847 881 827 918 811 935 806 869 808 901 818 693 824 779 866 718 807 676 842 743 801 716 851 801 828 789 772 776 761 823 786 716 747 778 787 909 854 843 766 904 774 853 822 815 811 818 770 741 827 759 801 634 799 766 887 736 870 762 852 716 747 778 787 909 854 843 766 904 774 853 822 866 782 951 845 741 827 759 801 634 799 766 887 736 870 762 852 805 787 725 784 795 757 895 835 812 820 806 792 796 729 684 716 879 847 881 827 841 792 776 804 723 764 794 791 693 824 779 866 718 807 676 842 845 805 787 725 835 841 792 776 792 723 764 794 716 693 824 779 784 700 836 774 804 766 750 734 791 799 752 782 866 799 842 797 827 718 807 676 806 743 801 716 818 801 828 789 786 815 811 818 842 810 932 801 851 744 835 750 772 711 771 732 770 755 784 791 806 743 801 716 818 801 828 789 786 815 811 818 787 741 827 759 851 744 835 750 772 711 771 732 770 755 784 791 801 832 830 762 766 634 799 766 822 736 870 762 845 805 787 725 835 841 792 776 887 832 909 876 852 722 889 781 784 700 836 774 804 766 750 734 866 782 951 845 795 757 895 835 812 820 806 792 796 729 684 716 805 787 725 784 841 792 776 804 723 764 794 791 693 824 779 866 879 847 881 827 918 811 935 806 869 808 901 818 776 761 823 786 718 807 676 842 743 801 716 851 801 828 789 772 815 811 818 770 918 811 935 806 869 808 901 818 776 761 823 786 716 747 778 787 743 801 716 851 801 828 789 772 815 811 818 770 741 827 759 801 909 854 843 766 904 774 853 822 866 782 951 845 795 757 895 835 634 799 766 887 736 870 762 852 805 787 725 784 841 792 776 804
// report: vectorised for rows of 32 threads
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

static_assert(sizeof(simdgroup_half8x8::storage_type) == 2 * sizeof(half),
              "a thread holds two of the 64 elements");

// Two tiles below one another times one, for each simdgroup. Where its tiles
// begin is found before the branch.
struct products {
  simdgroup_float8x8 sums[2];
  short left_at, right_at;
  products(ushort s, ushort lane) thread {
    const short quad = lane / 4;
    short row = (quad & 4) + (lane / 2) % 4;
    short column = (quad & 2) * 2 + (lane % 2) * 2;
    short down = 8 * (s / 2), along = 8 * (s % 2);
    left_at = (down + row) * 24 + column;
    right_at = row * 24 + along + column;
    for (int i = 0; i < 2; i++)
      sums[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
  void add(const threadgroup float *left, const threadgroup float *right) thread {
    left += left_at;
    right += right_at;
    for (int k = 0; k < 2; k++) {
      simdgroup_float8x8 a[2], b;
      for (int i = 0; i < 2; i++) {
        a[i].thread_elements()[0] = left[i * 16 * 24];
        a[i].thread_elements()[1] = left[i * 16 * 24 + 1];
      }
      b.thread_elements()[0] = right[0];
      b.thread_elements()[1] = right[1];
      for (int i = 0; i < 2; i++)
        simdgroup_multiply_accumulate(sums[i], a[i], b, sums[i]);
      left += 8;
      right += 8 * 24;
    }
  }
};

kernel void multiply(device const uint *x [[buffer(0)]],
                device float *c [[buffer(1)]],
                constant int &rounds [[buffer(2)]],
                constant int &rows [[buffer(3)]],
                uint t [[thread_index_in_threadgroup]],
                ushort lane [[thread_index_in_simdgroup]],
                ushort s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float left[32 * 24], right[16 * 24];
  products p(s, lane);
  if (rows < 32) {
    for (int r = 0; r < rounds; r++) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (int i = t; i < 32 * 24; i += 128)
        left[i] = i / 24 < rows ? float(x[r * 192 + i] % 11) : 0;
      for (int i = t; i < 16 * 24; i += 128)
        right[i] = x[r * 192 + 191 - i % 192] % 11;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      p.add(left, right);
    }
  } else {
    for (int r = 0; r < rounds; r++) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (int i = t; i < 32 * 24; i += 128)
        left[i] = x[r * 192 + i] % 11;
      for (int i = t; i < 16 * 24; i += 128)
        right[i] = x[r * 192 + 191 - i % 192] % 11;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      p.add(left, right);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int i = 0; i < 2; i++) {
    c[(s * 2 + i) * 64 + lane * 2] = p.sums[i].thread_elements()[0];
    c[(s * 2 + i) * 64 + lane * 2 + 1] = p.sums[i].thread_elements()[1];
  }
}
